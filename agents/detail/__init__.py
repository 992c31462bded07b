"""Where the points of each game go."""
