"""What people see of a game: words, pictures, and the tables of the pages."""
