"""Snapshots of a site: which writes take one, which share one, how many are kept, and what is in their files."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from presscheck.api.operation import Operation, Page
from presscheck.api.site_settings import (
    AdaptiveSchema,
    CreateRedirect,
    DeleteRedirect,
    GetAdaptiveSchema,
    GetCustomization,
    ListRedirects,
    ListShareLinks,
    RedirectDestination,
    UpdateAdaptiveSchema,
    UpdateCustomization,
)
from presscheck.api.site_structure import DeleteSection, GetSiteStructure, SiteStructure
from presscheck.api.sites import GetSite, PublishSite, Site, UnpublishSite, UpdateSite
from presscheck.engine.site_config import snapshots
from presscheck.engine.site_config.document import SiteConfig
from presscheck.engine.site_config.snapshots import BURST, LONGEST_BURST, Snapshot, SnapshotRecorder, Snapshots
from presscheck.errors import ConfigurationError, Forbidden, InvalidArgument, NetworkError, StoreError

PATH = {"organization_id": "o", "site_id": "s"}
LOOKS = SiteConfig(customization={"a": 1})


def test_snapshots_are_bounded_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "KEPT", 3)
    first, second = (snapshots.Snapshots(tmp_path, site) for site in ("a", "b/../c"))
    names = [first.keep(SiteConfig(customization={"n": n}), "customization").name for n in range(4)]
    assert [one.name for one in first.every()] == names[:0:-1]
    assert first.config(first.named("latest")).customization == {"n": 3}
    monkeypatch.setattr(snapshots, "MAX_BYTES", 1)
    large = second.keep(SiteConfig(customization={"text": "x" * 1000}), "customization")
    assert [one.name for one in second.every()] == [large.name]
    assert [one.name for one in first.every()] == names[3:], "the newest of a site stays"
    assert large.file.parent.parent == tmp_path
    assert (large.file.stat().st_mode & 0o777, large.file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_snapshots_are_read_back_and_unreadable_ones_are_left_out(tmp_path: Path) -> None:
    of_site = Snapshots(tmp_path, "s")
    assert of_site.is_empty
    with pytest.raises(InvalidArgument, match="the site has no snapshots"):
        of_site.named("latest")
    names = [of_site.keep(LOOKS, "customization", f"change {n}", "Ann", n).name for n in range(11)]
    assert [one.name for one in of_site.every()] == names[::-1], "-10 is newer than -9"
    assert of_site.every()[0] == of_site.named(names[10]) == of_site.named("latest")
    kept = of_site.named(names[3])
    assert (kept.kind, kept.what, kept.who, kept.parts, kept.write) == (
        "customization",
        "change 3",
        "Ann",
        ("customization",),
        3,
    )
    with pytest.raises(InvalidArgument, match=f"2000-01-01T000000Z not found. Newest: {names[10]}"):
        of_site.named("2000-01-01T000000Z")
    head, document = kept.file.read_text().splitlines()
    kept.file.write_text(f"{head}\n" + '{"strukture": 1}\n')
    with pytest.raises(ConfigurationError, match=r"is damaged \(strukture: is not a known key"):
        of_site.config(kept)
    kept.file.write_text(f"{head}\n" + document[:-2])
    with pytest.raises(ConfigurationError, match="is damaged: choose another snapshot"):
        of_site.config(kept)
    # newer versions may write other kinds and parts; a file with an unreadable head is left out
    kept.file.write_text(json.dumps({**json.loads(head), "kind": "logo", "parts": ["logo", "redirects"]}) + "\n{}")
    assert (of_site.named(names[3]).kind, of_site.named(names[3]).parts) == ("configuration", ("redirects",))
    for damaged in ("", "[]", '{"at": 1}', "no JSON"):
        kept.file.write_text(damaged)
        assert [one.name for one in of_site.every()] == [*names[:3], *names[4:]][::-1]
    kept.file.unlink()
    with pytest.raises(ConfigurationError, match="cannot be read: No such file or directory"):
        of_site.config(kept)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Could not keep a snapshot in .*: Not a directory"):
        Snapshots(tmp_path / "file", "s").keep(LOOKS, "customization")


def aged(snapshot: Snapshot, *, kept: float = 0, shared: float = 0) -> None:
    """Make a snapshot older: `kept` seconds since it was taken, `shared` seconds since the last change shared it."""
    head, document = snapshot.file.read_text().splitlines()
    snapshot.file.write_text(f"{json.dumps({**json.loads(head), 'at': snapshot.at - kept})}\n{document}\n")
    os.utime(snapshot.file, (snapshot.at - shared,) * 2)


def test_changes_in_quick_succession_share_a_snapshot(tmp_path: Path) -> None:
    of_site = Snapshots(tmp_path, "s")
    assert not of_site.shares("redirects", "redirects")
    kept = of_site.keep(SiteConfig(redirects=()), "redirects")
    assert of_site.shares("redirects", "redirects")
    assert not of_site.shares("structure", "structure")
    aged(kept, kept=LONGEST_BURST - 10, shared=BURST - 10)
    assert of_site.shares("redirects", "redirects")
    assert kept.file.stat().st_mtime > kept.at - 5, "the next change has a minute from this one"
    aged(kept, kept=LONGEST_BURST + 1)
    assert not of_site.shares("redirects", "redirects")
    aged(kept, shared=BURST + 1)
    assert not of_site.shares("redirects", "redirects")
    aged(kept)
    of_site.keep(SiteConfig(redirects=(), structure=()), "published")
    assert not of_site.shares("redirects", "redirects"), "it was published in between"
    of_site.keep(SiteConfig(redirects=(), structure=()), "configuration")
    assert of_site.shares("redirects", "redirects")


class SiteAnswers:
    """Scripted answers about one site, which can be errors; `reads` counts the reads of the site."""

    def __init__(self) -> None:
        self.answers: dict[type[Operation[Any]], Any] = {
            GetSite: Site(id="s"),
            GetSiteStructure: SiteStructure(type="siteSpaces"),
            ListShareLinks: Page[Any](items=()),
            ListRedirects: Page[Any](items=()),
            GetCustomization: {"title": "Docs", "updatedAt": "now"},
            GetAdaptiveSchema: AdaptiveSchema(json_schema=None),
        }
        self.reads = 0

    async def read(self, call: Operation[Any]) -> Any:
        self.reads += isinstance(call, GetSite)
        answer = self.answers[type(call)]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def answers() -> SiteAnswers:
    return SiteAnswers()


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def recorder(answers: SiteAnswers, notices: list[str], tmp_path: Path) -> SnapshotRecorder:
    return SnapshotRecorder(tmp_path, answers.read, lambda: "Ann", notices.append)


def added(source: str) -> CreateRedirect:
    section = RedirectDestination(kind="site-section", site_section_id="x")
    return CreateRedirect(**PATH, source=source, destination=section)


REDIRECTED, RESTYLED = added("/a"), UpdateCustomization(**PATH, settings={})


async def test_snapshot_has_the_part_that_a_write_changes(recorder: SnapshotRecorder, answers: SiteAnswers) -> None:
    removed = DeleteSection(**PATH, site_section_id="x")
    for number, write in enumerate((RESTYLED, REDIRECTED, removed), 1):
        await recorder.before(write, number)
    published = replace(SiteConfig(), structure=(), redirects=(), customization={"title": "Docs"})
    await recorder.keep_published(PublishSite(**PATH), published, 4)
    kept = recorder.of("s").every()
    assert [(one.kind, one.parts, one.who, one.write) for one in kept] == [
        ("published", ("structure", "redirects", "customization"), "Ann", 4),
        ("structure", ("structure",), "Ann", 3),
        ("redirects", ("redirects",), "Ann", 2),
        ("customization", ("customization",), "Ann", 1),
    ]
    assert kept[2].what == "add redirect from /a"
    assert recorder.of("s").config(kept[3]).customization == {"title": "Docs"}, "without what the service sets"
    for write in (
        PublishSite(**PATH),
        UnpublishSite(**PATH),
        UpdateSite(**PATH, title="Docs"),
        UpdateAdaptiveSchema(**PATH, json_schema={}),
    ):
        await recorder.before(write, 9)
    assert recorder.of("s").every() == kept, "neither changes a part, and there is no schema yet"
    await recorder.keep_published(PublishSite(**PATH), SiteConfig(), 5)
    assert recorder.of("s").every() == kept, "nothing of it could be read"


async def test_single_items_share_a_snapshot_and_whole_documents_do_not(
    recorder: SnapshotRecorder, answers: SiteAnswers
) -> None:
    for write in (REDIRECTED, DeleteRedirect(**PATH, site_redirect_id="r"), added("/b")):
        await recorder.before(write, 1)
    assert (len(recorder.of("s").every()), answers.reads) == (1, 1)
    await recorder.before(REDIRECTED.model_copy(update={"site_id": "other"}), 1)
    assert len(recorder.of("other").every()) == 1
    for number in (2, 3):
        await recorder.before(RESTYLED, number)
    assert [one.write for one in recorder.of("s").every()] == [3, 2, 1]


async def test_push_takes_one_snapshot_before_its_calls(recorder: SnapshotRecorder, answers: SiteAnswers) -> None:
    config = SiteConfig(customization={"a": 1}, redirects=(), share_links=("secret",))
    push = recorder.keep("s", config, ("customization", "redirects"), "push of a file")
    assert (push.kind, push.what, push.parts) == ("configuration", "push of a file", ("redirects", "customization"))
    for write in (RESTYLED, REDIRECTED):
        await recorder.before(write, 1)
    assert (recorder.of("s").every(), answers.reads) == ((push,), 0)
    await recorder.before(RESTYLED, 2)
    assert [one.write for one in recorder.of("s").every()] == [2, 0], "a push is one call of each document"
    kinds = [recorder.keep("s", config, parts, "").kind for parts in (("visitor_schema",), ("share_links",))]
    assert kinds == ["schema", "configuration"]


@pytest.mark.parametrize(
    ("error", "is_raised", "notice"),
    [
        (NetworkError("no answer", request="GetSite"), True, []),
        (Forbidden("not yours", request="GetSite", status=403), False, []),
        (StoreError("disk full"), False, ["disk full"]),
    ],
)
async def test_only_network_errors_hold_up_a_change(
    recorder: SnapshotRecorder,
    answers: SiteAnswers,
    notices: list[str],
    error: Exception,
    is_raised: bool,
    notice: list[str],
) -> None:
    answers.answers[GetSite] = error
    if is_raised:
        with pytest.raises(type(error)):
            await recorder.before(RESTYLED, 1)
    else:
        await recorder.before(RESTYLED, 1)
    assert (notices, recorder.of("s").is_empty) == (notice, True)


async def test_without_a_directory_nothing_is_kept(answers: SiteAnswers) -> None:
    recorder = SnapshotRecorder(None, answers.read, str, print)
    await recorder.before(PublishSite(**PATH), 1)
    assert answers.reads == 0
    with pytest.raises(StoreError, match="there is no directory for them"):
        recorder.of("s")
    with pytest.raises(StoreError, match="there is no directory for them"):
        recorder.keep("s", LOOKS, ("customization",), "")
