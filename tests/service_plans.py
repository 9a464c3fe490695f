"""Sites whose plan applies another type than the chosen one, as in the hosted service."""

from __future__ import annotations

from contextlib import closing

from tests.running_service import RunningService

from presscheck.service.db.engine import Database
from presscheck.service.models.sites import SiteRow


def limit_site(service: RunningService, site_id: str, chosen: str, applied: str) -> None:
    """Set the chosen type of a site and the type that its plan applies."""
    with closing(Database(service.database_url)) as database, database.writing.begin() as session:
        site = session.get_one(SiteRow, site_id)
        site.type, site.applied_type = chosen, applied
