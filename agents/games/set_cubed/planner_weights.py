"""The weights of the planner for SET Cubed, by the number of players: what the features of a position are worth."""

WEIGHTS: dict[int, list[list[float]]] = {}
