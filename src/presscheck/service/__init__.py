"""The local service: the same API with real state; the only room that knows Starlette and SQLAlchemy."""
