"""Policies: by name, without training, from checkpoints."""
