"""Exact play: the mathematics of one turn of dice, and the games that are solved with it."""
