"""Yum: exact play, greedy play, and where the points go."""
