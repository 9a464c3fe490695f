"""Tables of background jobs and of internal state."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import Table, refers


class JobRow(Table):
    """A background job; `about` is the id of the item that it processes, `progress` its state between attempts.

    States: waiting (until `run_at`), running, done, failed, cancelled. The worker of a running job holds it with the
    token `lease` and increments `renewals`. When `renewals` stops changing, another worker may take the job with a new
    lease, and then the former worker cannot write any more.
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
    renewals: Mapped[int] = mapped_column(default=0)
    progress: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reason: Mapped[str | None]
    created_at: Mapped[str]
    finished_at: Mapped[str | None]


class SettingRow(Table):
    """A value shared by all processes of a service, such as the key that signs temporary URLs."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
