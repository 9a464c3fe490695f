"""Interfaces for agents: the type of a verb, and a Model Context Protocol server that offers verbs."""
