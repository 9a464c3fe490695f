"""A site as several screens need it."""
