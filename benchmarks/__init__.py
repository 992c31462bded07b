"""Speed of fivedice and of named peers, measured on this machine: ``python -m benchmarks --help``."""
