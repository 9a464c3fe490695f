"""Figures: how they are measured, and what they were, stands in README.md beside this file."""
