"""The local service: an implementation of the API. The only package that imports Starlette and SQLAlchemy."""

from presscheck.extras import require_extra

require_extra("serve")  # before any module of this package, so that no command can reach one that fails to import
