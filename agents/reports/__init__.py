"""Figures for people: tables, plots and pages."""
