"""Policies: those that need no training, checkpoints, and loading them by name."""
