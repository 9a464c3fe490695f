"""Database migrations: one module for each step, forwards only, each in a transaction."""
