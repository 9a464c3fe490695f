"""Reads: request scheduling, subscriptions, pagination, the cache writer."""
