"""Training, evaluation and sweeps on several machines, with Ray."""
