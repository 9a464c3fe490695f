"""Clients that mix calls to one service through several addresses; each write is read back through another address.

Before a write, the item is read through another address, so that the process there keeps a response in memory. After
the write, the item is read there again and must have the acknowledged value.
"""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
from tests.service.factories import PAGES, World
from tests.service.populated_service import furnish
from tests.service.read_paths import read_paths, timed

KEPT_OPEN = 1.0
"""Seconds that an idle connection is kept, less than the five seconds after which the service closes it."""
RECONNECTED = 25
"""Number of turns after which a client connects again, perhaps to another process."""
ATTEMPTS = 5
"""Maximum number of comparisons of a read whose response changes."""
MOST_BYTES = 60_000
"""Maximum size of uploaded files."""
Note = Callable[[str, float], None]
"""Called with the kind of each call and its duration in milliseconds."""


class Subject(NamedTuple):
    """The data that the calls use: a world with one item of every kind, pages for the clients, and a published site."""

    world: World
    site: str
    """The path of the published site."""
    reads: tuple[str, ...]
    """The paths of all reads of the API whose responses depend only on the database."""


def pages_for(clients: int) -> list[tuple[str, str]]:
    """Return titles and texts of the pages of the space, which include a page for each client."""
    return [*PAGES, *((notes(number).title(), "Text.\n") for number in range(clients))]


def notes(number: int) -> str:
    """Return the id of a client's page, which is also its path."""
    return f"notes{number}"


def subject_of(world: World, address: str) -> Subject:
    """Add one item of every kind to a world and publish it through the service at an address."""
    world.base_url = address
    known = furnish(world)
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    with httpx.Client(base_url=address, headers=headers, timeout=120) as http:
        created = {"title": "Notes", "spaces": [world.space], "visibility": "public"}
        site = http.post(f"/v1/orgs/{world.organization}/sites", json=created).raise_for_status().json()["id"]
        published = http.post(f"/v1/orgs/{world.organization}/sites/{site}/publish").raise_for_status().json()
    paths = list(read_paths(known))
    later = timed(paths)
    return Subject(
        world, urlsplit(published["urls"]["published"]).path, tuple(path for path in paths if path not in later)
    )


class MixedClient:
    """A client whose turns make random calls.

    Args:
        addresses: addresses of the service, at least two.
        subject: the data that the calls use.
        number: the number of the client, which selects its page.
        seed: the seed of its random choices.
        note: called after each call.
    """

    def __init__(self, addresses: Sequence[str], subject: Subject, number: int, seed: int, note: Note) -> None:
        self._addresses, self._subject, self._note = addresses, subject, note
        self._chance = random.Random(f"{seed} {number}")
        self._page = notes(number)
        self._space = f"/v1/spaces/{subject.world.space}"
        self._branch = ""
        self._comments: list[str] = []
        self._tags: dict[tuple[int, str], tuple[str, Any]] = {}
        self._turns = self._here = self._there = 0
        self._connections: list[httpx.Client] = []
        self._kinds: dict[Callable[[], None], int] = {
            self._read: 30,
            self._visit: 10,
            self._poll: 6,
            self._search: 4,
            self._comment: 8,
            self._edit: 8,
            self._rename: 6,
            self._merge: 5,
            self._upload: 4,
            self._delete_comment: 3,
            self._review: 2,
        }
        """Kinds of turns with their weights."""

    def turn(self) -> None:
        """Make some calls through two of the addresses.

        Raises:
            AssertionError: a response was not the expected one.
            httpx.TransportError: there was no response.
        """
        if self._turns % RECONNECTED == 0:
            self.close()
            self._connections = [self._connected(address) for address in self._addresses]
        self._turns += 1
        self._here, self._there = self._chance.sample(range(len(self._addresses)), 2)
        if not self._branch:
            self._begin()
        else:
            [kind] = self._chance.choices([*self._kinds], [*self._kinds.values()])
            kind()

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections = []

    def _connected(self, address: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {self._subject.world.tokens['admin']}", "host": "service.localhost"}
        limits = httpx.Limits(keepalive_expiry=KEPT_OPEN)
        return httpx.Client(base_url=address, headers=headers, timeout=120, limits=limits)

    # calls

    def _call(self, place: int, kind: str, method: str, path: str, **details: Any) -> httpx.Response:
        before = time.perf_counter()
        response = self._connections[place].request(method, path, **details)
        self._note(kind, (time.perf_counter() - before) * 1e3)
        return response

    def _get(self, path: str) -> Any:
        """Read JSON through the other address; half of the repeated reads send `If-None-Match`."""
        tag, known = self._tags.get((self._there, path), ("", None))
        headers = {"if-none-match": tag} if tag and self._chance.random() < 0.5 else {}
        response = self._call(self._there, "read", "GET", path, headers=headers)
        if headers and response.status_code == 304:
            return known
        assert response.status_code == 200, f"GET {path}: {response.status_code} {response.text[:300]}"
        found = response.json()
        self._tags[self._there, path] = (response.headers.get("etag", ""), found)
        return found

    def _write(self, method: str, path: str, body: Any = None) -> Any:
        response = self._call(self._here, "write", method, path, json=body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text[:300]}"
        return response.json() if response.content else None

    def _words(self) -> str:
        return f"Lamp {self._chance.getrandbits(64)}"

    # turns

    def _begin(self) -> None:
        listing = f"{self._space}/change-requests?status=draft&limit=50"
        self._get(listing)
        subject = self._words()
        made = self._write("POST", f"{self._space}/change-requests", {"subject": subject})["id"]
        self._branch, self._comments = f"{self._space}/change-requests/{made}", []
        assert subject in [item["subject"] for item in self._get(listing)["items"]], "not in the listing"
        assert self._get(self._branch)["subject"] == subject
        self._tags = {}

    def _read(self) -> None:
        path = self._chance.choice(self._subject.reads)
        response = self._call(self._there, "read", "GET", path)
        assert response.status_code < 500, f"GET {path}: {response.status_code} {response.text[:300]}"

    def _visit(self) -> None:
        self._published()

    def _search(self) -> None:
        found = self._call(self._there, "search", "GET", f"{self._space}/search?query=second")
        assert found.status_code == 200 and found.json()["items"], found.text[:300]

    def _poll(self) -> None:
        self._get(f"/v1/orgs/{self._subject.world.organization}/change-requests?status=open&limit=50")

    def _comment(self) -> None:
        listing = f"{self._branch}/comments?limit=1000&format=markdown"
        before, count = self._get(listing)["items"], self._get(self._branch)["comments"]
        text = self._words()
        made = self._write("POST", f"{self._branch}/comments", {"body": {"markdown": text}})["id"]
        self._comments.append(made)
        after = {item["id"]: item["body"]["markdown"].strip() for item in self._get(listing)["items"]}
        assert after == {item["id"]: item["body"]["markdown"].strip() for item in before} | {made: text}
        assert self._get(self._branch)["comments"] == count + 1

    def _delete_comment(self) -> None:
        if not self._comments:
            self._comment()
        gone = self._comments.pop()
        self._get(f"{self._branch}/comments/{gone}")
        self._write("DELETE", f"{self._branch}/comments/{gone}")
        response = self._call(self._there, "read", "GET", f"{self._branch}/comments/{gone}")
        assert response.status_code == 404, f"a deleted comment: {response.status_code}"
        listing = f"{self._branch}/comments?limit=1000&format=markdown"
        assert gone not in [item["id"] for item in self._get(listing)["items"]]

    def _rename(self) -> None:
        self._get(self._branch)
        subject = self._words()
        self._write("PATCH", self._branch, {"subject": subject})
        assert self._get(self._branch)["subject"] == subject

    def _edit(self) -> None:
        path = f"{self._branch}/content/page/{self._page}?format=markdown"
        self._get(path)
        text = self._words()
        change = {"operation": "update_page", "page": self._page, "document": {"markdown": f"{text}\n"}}
        self._write("POST", f"{self._branch}/content?compat=false", {"changes": [change]})
        assert text in self._get(path)["markdown"]

    def _upload(self) -> None:
        content = self._chance.randbytes(self._chance.randrange(1, MOST_BYTES))
        file = {
            "name": "a.bin",
            "base64": base64.b64encode(content).decode(),
            "contentType": "application/octet-stream",
        }
        change = {"operation": "insert_files", "files": [file]}
        # in a change request that is not merged: otherwise the revisions would get more and more files
        draft = self._write("POST", f"{self._space}/change-requests", {"subject": "A file"})["id"]
        branch = f"{self._space}/change-requests/{draft}"
        made = self._write("POST", f"{branch}/content?compat=false", {"changes": [change]})
        address = urlsplit(made["insertedFiles"][0]["downloadURL"])
        response = self._call(self._there, "file", "GET", f"{address.path}?{address.query}")
        assert response.status_code == 200 and response.content == content, f"a file: {response.status_code}"
        self._write("PATCH", branch, {"status": "archived"})
        assert self._get(branch)["status"] == "archived"

    def _review(self) -> None:
        before = self._get(f"{self._branch}/reviews")["items"]
        made = self._write("POST", f"{self._branch}/reviews", {"status": "approved"})["id"]
        after = [item["id"] for item in self._get(f"{self._branch}/reviews")["items"]]
        assert made in after and len(after) >= len(before)

    def _merge(self) -> None:
        path = f"{self._space}/content/page/{self._page}?format=markdown"
        self._get(path)
        self._published()
        text = self._words()
        change = {"operation": "update_page", "page": self._page, "document": {"markdown": f"{text}\n"}}
        self._write("POST", f"{self._branch}/content?compat=false", {"changes": [change]})
        self._write("POST", f"{self._branch}/merge")
        assert self._get(self._branch)["status"] == "merged"
        assert text in self._get(path)["markdown"], "the merge is not in the page"
        assert text in self._published(), "the merge is not in the published page"
        self._branch = ""

    def _published(self) -> str:
        path = f"{self._subject.site.rstrip('/')}/{self._page}"
        response = self._call(self._there, "published page", "GET", path)
        assert response.status_code == 200, f"GET {path}: {response.status_code}"
        return response.text


def differences(addresses: Sequence[str], subject: Subject) -> Iterator[str]:
    """Yield the reads whose responses differ between the first address and another, while neither changes."""
    headers = {"authorization": f"Bearer {subject.world.tokens['admin']}", "host": "service.localhost"}
    space, organization = f"/v1/spaces/{subject.world.space}", f"/v1/orgs/{subject.world.organization}"
    more = [f"{space}/change-requests?limit=1000&status={status}" for status in ("draft", "open", "merged", "archived")]
    more += [f"{organization}/change-requests?limit=1000", f"{organization}/sites?limit=1000", f"{space}/content/files"]
    clients = [httpx.Client(base_url=address, headers=headers, timeout=120) for address in addresses]

    def answer(client: httpx.Client, path: str) -> tuple[int, bytes]:
        response = client.get(path)
        return response.status_code, response.content

    for path in (*subject.reads, *more, subject.site):
        for other in clients[1:]:
            # repeated, as a job may write between two reads
            for _ in range(ATTEMPTS):
                before, there, after = answer(clients[0], path), answer(other, path), answer(clients[0], path)
                if before in (there, after):
                    break
            if before != there:
                yield f"{path}: {before} {there}"
    for client in clients:
        client.close()
