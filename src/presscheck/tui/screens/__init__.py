"""Full screens and their parts; they use the engine."""
