"""The screen of an OpenAPI specification: its state, and what its latest version has."""
