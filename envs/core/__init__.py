"""What all games share: the compiler, chance, dice, options, rewards, the declaration of a game, and batches."""
