"""Writes: the queue, the outbox worker, reconciliation, effects, optimistic overlays."""
