"""Configurations of training runs, found by name: ``fivedice train --config yum-smoke``."""
