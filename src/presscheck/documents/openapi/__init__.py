"""OpenAPI specifications as readers see them: operations, webhooks, schemas, examples and code samples."""
