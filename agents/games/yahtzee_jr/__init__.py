"""Yahtzee Jr.: exact play, greedy play, and how much a policy can lose."""
