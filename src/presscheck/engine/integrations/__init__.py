"""Integrations: scopes in plain words, manifests and their publication, and the forms of settings."""
