"""Evaluation of policies: matches, tournaments, ratings, and luck-adjusted results."""
