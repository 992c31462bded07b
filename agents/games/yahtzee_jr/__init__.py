"""Yahtzee Jr.: exact play, greedy play, and what a policy can lose."""
