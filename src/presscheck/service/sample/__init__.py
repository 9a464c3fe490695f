"""The sample workspace: a small company at work, good enough for a screenshot.

Its pages are a documentation repository each; everything else is what people did, said by each in the calls of the
api, each at its time. So the sample holds nothing that the service would not, and a fixed clock gives the same again.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from presscheck.service.identity import Clock, counted_ids
from presscheck.service.sample.happenings import happenings
from presscheck.service.sample.many import plant_many
from presscheck.service.sample.planting import Planting
from presscheck.service.sample.showing import show_sites

__all__ = ["plant", "plant_many"]


def plant(session: Session, clock: Clock) -> None:
    """Put the sample workspace into an empty database; its owner is the first admin."""
    with counted_ids():
        planting = Planting(session, clock())
        planting.begin()
        for happening in sorted(happenings(planting), key=lambda one: one.ago, reverse=True):
            happening.act()
        show_sites(planting)
