"""Reads: request scheduling, cached responses, listings, subscriptions."""
