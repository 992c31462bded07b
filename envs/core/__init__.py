"""What every game is made of: the compiler, chance, dice, options, declarations, and batches of games."""
