"""Configurations of training runs. Use one by name: ``fivedice train --config yum-smoke``."""
