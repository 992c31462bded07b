"""What is known of single games, a folder for each, and what several of them share."""
