"""The greedy policy of each game."""
