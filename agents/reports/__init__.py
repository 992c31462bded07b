"""Results for people: tables, plots and HTML pages."""
