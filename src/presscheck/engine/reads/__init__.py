"""Reads: scheduling, subscriptions, pagination, writing answers to the cache."""
