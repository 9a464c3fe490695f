"""The rows of work that is done in the background, and of what the service knows of itself."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.tables import Table, refers


class JobRow(Table):
    """A piece of work; `about` is the id of what it works on, `progress` what it remembers from try to try.

    States: waiting (from `run_at` on), running (until `leased_until`, then anybody may take it), done, failed,
    cancelled. Whoever runs it holds it under `lease`, so that a worker that was given up for dead writes nothing.
    """

    __tablename__ = "jobs"
    __table_args__ = (Index("jobs_by_time", "state", "run_at"), Index("jobs_about", "about"))

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    organization_id: Mapped[str | None] = mapped_column(refers("organizations.id", ondelete="CASCADE"))
    about: Mapped[str]
    state: Mapped[str] = mapped_column(default="waiting")
    attempts: Mapped[int] = mapped_column(default=0)
    run_at: Mapped[str]
    lease: Mapped[str | None]
    leased_until: Mapped[str | None]
    progress: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reason: Mapped[str | None]
    created_at: Mapped[str]
    finished_at: Mapped[str | None]


class SettingRow(Table):
    """Something that all processes of a service share, such as the key that timed addresses are signed with."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
