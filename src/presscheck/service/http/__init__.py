"""HTTP: routing, serialization, pagination, rate limits, request log, OpenAPI."""
