"""Writes: the write queue, the outbox worker, delivery reconciliation, effects, inverses and overlays."""
