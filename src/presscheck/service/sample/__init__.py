"""The sample workspace: the documentation of a small company, realistic enough for screenshots.

The organization, its users and its collections are written as rows, and each space comes from a repository of pages.
Everything else is created by API calls of the users at different times. So the sample contains nothing that the service
could not create, and with a fixed clock it is always the same.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from presscheck.service.db.ids import Clock, counted_ids
from presscheck.service.sample.builder import Planting
from presscheck.service.sample.bulk_data import plant_many
from presscheck.service.sample.sites import show_sites
from presscheck.service.sample.timeline import happenings

__all__ = ["plant", "plant_many"]


def plant(session: Session, clock: Clock) -> None:
    """Create the sample workspace in an empty database; its owner is the first admin."""
    with counted_ids():
        planting = Planting(session, clock())
        planting.begin()
        for happening in sorted(happenings(planting), key=lambda item: item.ago, reverse=True):
            happening.act()
        show_sites(planting)
