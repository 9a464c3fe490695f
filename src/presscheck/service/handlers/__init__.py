"""One small handler for each operation, grouped as the api is."""
