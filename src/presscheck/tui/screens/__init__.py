"""Full screens and their parts, which use the engine."""
