"""The application, called in this process without HTTP; counts SQL statements and processor time of requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from sqlalchemy import event
from starlette.applications import Starlette

from presscheck.service.app import build
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.http.operations import Context
from presscheck.service.models.organizations import UserRow

_HOST = b"service.localhost"


Answer = TypeVar("Answer")


def counted(url: str, user_id: str, ask: Callable[[Context], Answer]) -> tuple[Answer, int]:
    """Call a handler as a user. Returns its result and the number of its SQL statements."""
    said: list[str] = []
    with closing(Database(url)) as database, database.snapshot() as session:
        user = session.get_one(UserRow, user_id)
        event.listen(database.engine, "before_cursor_execute", lambda *given: said.append(given[2]))
        answer = ask(Context(session, user, "", system_clock, Path()))
    return answer, len(said)


class CountedService:
    """The application in this process, called without HTTP."""

    def __init__(self, home: Path, url: str, token: str) -> None:
        self._token = token
        self.database = Database(url)
        self.app: Starlette = build(self.database, data_dir=home)
        self.statements = 0
        self.note: Callable[[str, Any], None] = lambda statement, values: None
        event.listen(self.database.engine, "before_cursor_execute", self._note)

    def _note(self, *details: Any) -> None:
        if not details[2].startswith(
            "BEGIN"
        ):  # sent on SQLite only: the driver of PostgreSQL begins transactions itself
            self.statements += 1
            self.note(details[2], details[3])

    async def send(self, method: str, path: str, body: bytes = b"") -> tuple[float, int, bytes]:
        """Send a request. Returns seconds of processor time, number of SQL statements, and response body."""
        where, _, query = path.partition("?")
        where = unquote(where)
        headers = [(b"host", _HOST), (b"authorization", b"Bearer " + self._token.encode())]
        if body:
            headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": where}
        scope |= {"raw_path": where.encode(), "query_string": query.encode(), "headers": headers, "scheme": "http"}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "root_path": ""}
        parts: list[bytes] = []
        status = [0]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            else:
                parts.append(message.get("body", b""))

        self.statements = 0
        begun = time.process_time()
        await self.app(scope, receive, send)
        spent = time.process_time() - begun
        answer = b"".join(parts)
        if status[0] not in (200, 201):
            raise AssertionError(f"{method} {path}: {status[0]} {answer[:500]!r}")
        return spent, self.statements, answer
