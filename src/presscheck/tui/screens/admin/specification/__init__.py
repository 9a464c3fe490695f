"""The screens of an OpenAPI specification: its state and latest version, and the changes since the previous version."""
