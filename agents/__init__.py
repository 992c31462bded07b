"""The players: policies, checkpoints, training, matches, and the command line."""
