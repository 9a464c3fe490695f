"""The HTTP client for the service's API; the only package that uses httpx."""
