"""A game between persons and policies, without a user interface. The terminal and the browser show it."""
