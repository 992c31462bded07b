"""How strong policies are: matches, tournaments, ratings, and results without luck."""
