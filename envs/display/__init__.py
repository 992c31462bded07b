"""Games for people: text, pictures, and the tables of the games' pages."""
