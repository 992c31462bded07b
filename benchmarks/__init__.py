"""Speed, measured against named peers on the machine at hand: ``python -m benchmarks --help``."""
