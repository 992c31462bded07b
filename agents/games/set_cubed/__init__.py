"""SET Cubed: greedy play, and what it leaves out."""
