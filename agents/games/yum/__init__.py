"""Yum: exact play, greedy play, and the score breakdown."""
