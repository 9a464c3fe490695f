"""OpenAPI specifications: comparison of two versions, and the versions seen on this machine."""
