"""The operations and models of the platform's API, as pydantic classes."""
