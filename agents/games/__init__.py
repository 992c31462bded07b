"""What is known of each game, one folder per game. The modules beside the folders serve several games."""
