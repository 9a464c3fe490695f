"""The API of the platform: operations and models. Uses pydantic only."""
