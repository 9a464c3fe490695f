"""Integrations: their scopes in plain words, the form of their settings, and the components that they render."""
