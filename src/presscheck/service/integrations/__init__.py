"""Integrations and guarded outgoing HTTP."""
