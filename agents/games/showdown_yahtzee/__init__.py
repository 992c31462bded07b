"""Showdown Yahtzee: greedy play, and what it leaves out."""
