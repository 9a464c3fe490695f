"""The local service: implements the API with real state. The only package that imports Starlette and SQLAlchemy."""
