"""The history of a site: rows of the service and of this machine, bursts of writes, and comparisons of snapshots."""

from pathlib import Path
from typing import Any

import pytest

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.operation import Operation, Page
from presscheck.api.site_settings import CreateRedirect, RedirectDestination, UpdateCustomization
from presscheck.api.site_structure import DeleteSection, GetSiteStructure, SiteSpace, SiteStructure
from presscheck.api.sites import GetSite, PublishSite, Site, UnpublishSite
from presscheck.api.spaces import Space
from presscheck.api.users import User
from presscheck.client.request_priority import Priority
from presscheck.documents.sites.content import PublishedState
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.site_config.document import SiteConfig
from presscheck.engine.site_config.site_history import changes_between, own_rows, part_of_config, read_history
from presscheck.engine.site_config.snapshots import BURST, Kind, Snapshot, SnapshotRecorder
from presscheck.engine.site_config.validation import parse
from presscheck.engine.writes.descriptions import Place, describe
from presscheck.engine.writes.history import HistoryEntry
from presscheck.errors import InvalidArgument, NetworkError
from presscheck.store.outbox import Outbox

PATH = {"organization_id": "o", "site_id": "s"}
TARGET = RedirectDestination(kind="site-section", site_section_id="x")
RESTYLED = UpdateCustomization(**PATH, settings={})


def redirected(source: str) -> CreateRedirect:
    return CreateRedirect(**PATH, source=source, destination=TARGET)


def sent(number: int, at: float, call: Operation[Any] | None, state: str = "sent") -> HistoryEntry:
    """Return the history entry of a write."""
    what = describe(call) if call else ""
    return HistoryEntry(number, call, "", what, Place(), "", state, None, at, at, None, None, "", False)


def kept(name: str, at: float, kind: Kind, write: int = 0, **more: Any) -> Snapshot:
    parts = more.pop("parts", ("customization",) if kind == "customization" else ("redirects",))
    return Snapshot(name, Path(name), at, kind, more.pop("what", name), "Ann", parts, write)


def rows(entries: list[HistoryEntry], *snapshots: Snapshot) -> list[tuple[float, str, str, bool]]:
    found = sorted(own_rows(entries, snapshots, "s"), key=lambda row: row.at)
    return [(row.at, row.what, row.detail, row.snapshot is not None) for row in found]


def test_writes_that_share_a_snapshot_are_one_row() -> None:
    burst = [sent(number, 100 + 50 * number, redirected(f"/{number}")) for number in (1, 2, 3)]
    assert rows(burst, kept("add redirect from /1", 149, "redirects", 1)) == [
        (149, "redirects changed", "add redirect from /1 and 2 more changes", True)
    ]
    late = sent(4, 250 + 2 * BURST + 1, redirected("/4"))
    assert rows([late, *burst], kept("first", 149, "redirects", 1)) == [
        (149, "redirects changed", "first and 2 more changes", True),
        (late.ended_at, "redirects changed", "add redirect from /4", False),
    ]


def test_push_is_one_row_and_publishing_has_its_own_snapshot() -> None:
    push = kept("push of site.toml", 100, "configuration", parts=("redirects", "customization"))
    writes = [sent(1, 101, redirected("/1")), sent(2, 102, RESTYLED), sent(3, 103, PublishSite(**PATH))]
    published = kept("publish", 102.5, "published", 3, parts=("customization",))
    assert rows(writes, published, push) == [
        (100, "configuration changed", "push of site.toml", True),
        (102.5, "published", "publish", True),
    ]
    assert rows([sent(3, 103, PublishSite(**PATH)), sent(4, 104, UnpublishSite(**PATH))], push)[1:] == [
        (103, "published", describe(PublishSite(**PATH)), False),
        (104, "unpublished", describe(UnpublishSite(**PATH)), False),
    ]
    after = [sent(1, 99, RESTYLED)]
    assert rows(after, push)[0] == (99, "customization changed", describe(RESTYLED), False), "it was before the push"


def test_only_sent_writes_to_the_site_are_in_its_history() -> None:
    other = PublishSite(organization_id="o", site_id="other")
    writes = [
        sent(1, 1, redirected("/1"), "refused"),
        sent(2, 2, redirected("/2"), "unsent"),
        sent(3, 3, other),
        sent(4, 4, None),
        sent(5, 5, redirected("/5"), "undone"),
        sent(6, 6, DeleteSection(**PATH, site_section_id="x")),
    ]
    assert [(at, what) for at, what, *_ in rows(writes)] == [(5, "redirects changed"), (6, "structure changed")]


class HistoryAnswers:
    """A minimal engine for the history of a site: scripted answers of the service, and real files."""

    def __init__(self, outbox: Outbox, directory: Path, answers: dict[type[Operation[Any]], Any]) -> None:
        self.outbox, self.answers, self.writes = outbox, answers, list[HistoryEntry]()
        self.waited = list[str | None]()
        self.site_snapshots = SnapshotRecorder(directory, self.read, lambda: "Ann", print)

    def history(self) -> tuple[HistoryEntry, ...]:
        return tuple(self.writes)

    async def noted(self, site_id: str | None = None) -> None:
        self.waited.append(site_id)

    async def read(self, call: Operation[Any], *, priority: Priority = REQUESTED) -> Any:
        answer = self.answers[type(call)]
        if isinstance(answer, Exception):
            raise answer
        return answer


def merged(number: int, space: str, at: str | None, **more: Any) -> ChangeRequest:
    return ChangeRequest(id=f"c{number}", number=number, space=space, merged_at=at, **more)


@pytest.fixture
def engine(tmp_path: Path):
    space = SiteSpace(id="i", title="Guides", space=Space(id="a", title="Own"))
    requests = (
        merged(1, "a", "2026-01-02T00:00:00Z", subject="Typo", merged_by=User(id="u", display_name="Bea")),
        merged(2, "a", None, updated_at="2026-01-03T00:00:00Z"),
        merged(3, "elsewhere", "2026-01-02T00:00:00Z"),
    )
    outbox = Outbox(tmp_path / "outbox.sqlite")
    yield HistoryAnswers(
        outbox,
        tmp_path,
        {
            GetSite: Site(id="s", created_at="2026-01-01T00:00:00Z"),
            GetSiteStructure: SiteStructure(type="siteSpaces", structure=(space,)),
            ListOrganizationChangeRequests: Page[Any](items=requests),
        },
    )
    outbox.close()


async def test_rows_of_the_service_and_this_machine_are_merged_newest_first(engine: HistoryAnswers) -> None:
    PublishedStates(engine.outbox).note("s", PublishedState(at=1_767_350_000.0, is_own=False))
    engine.site_snapshots.of("s").keep(SiteConfig(customization={}), "customization", "restyle", "Ann")
    history = await read_history(engine, "o", "s")
    assert engine.waited == ["s"], "what was published just now is noted first"
    assert history.unread == ()
    assert [(row.what, row.who, row.detail, row.source) for row in history.rows] == [
        ("customization changed", "Ann", "restyle", "this machine"),
        ("merged", "", "#2 (no subject) into Guides", "service"),
        ("live", "", "it was live already when this machine first saw it", "this machine"),
        ("merged", "Bea", "#1 Typo into Guides", "service"),
        ("created", "", "", "service"),
    ]
    PublishedStates(engine.outbox).note("s", PublishedState(at=2.0, is_own=True))
    engine.answers[ListOrganizationChangeRequests] = NetworkError("no answer", request="")
    history = await read_history(engine, "o", "s")
    assert ([row.what for row in history.rows], history.unread) == (
        ["customization changed", "created"],
        ("no answer",),
    )


def test_snapshots_are_compared_in_the_parts_that_both_have() -> None:
    def config(**plain: Any) -> SiteConfig:
        found, problems = parse(plain)
        assert not problems
        return found

    section = {"section": "One", "path": "one", "spaces": [{"space": "A", "id": "a"}, {"space": "B", "id": "b"}]}
    redirect = {"source": "/a", "to": {"section": "one"}}
    before = config(structure=[section], customization={"a": 1}, share_links=["x"])
    after = config(
        structure=[{**section, "section": "Uno"}], redirects=[redirect], customization={"a": 2}, share_links=["y"]
    )
    assert [(str(one.field), one.site, one.file) for one in changes_between(before, after)] == [
        ("structure section One: title", "One", "Uno"),
        ("customization: a", 1, 2),
    ]
    assert part_of_config(before, "customization") == SiteConfig(customization={"a": 1})
    with pytest.raises(InvalidArgument, match="does not have the redirects: it has structure, customization"):
        part_of_config(before, "redirects")
