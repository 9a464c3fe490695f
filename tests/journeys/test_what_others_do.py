"""Events caused by other users, through the real service: each is reported once."""

import asyncio
import json
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast

import pytest
from tests.cli.shell import Shell, signed_in
from tests.engine.live_engine import running_engine, until
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.tui.app_driver import app_on, running
from tests.tui.app_driver import until as until_shown

from presscheck.api.change_requests import (
    CreateChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, ListComments, PostComment, PostReply
from presscheck.api.content import GetCurrentRevision
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.sites import ListSites, PublishSite
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.engine.inbox import event_notifications
from presscheck.engine.inbox.event_log import EventLog
from presscheck.engine.inbox.event_notifications import notify
from presscheck.engine.inbox.events import Event, sentence
from presscheck.errors import PresscheckError
from presscheck.tui.screens.review.screen import ReviewScreen

pytestmark = pytest.mark.service(shared=True)

GUIDE = {"space_id": "api", "change_request_id": "5"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}
KEYRING = {"space_id": "cli", "change_request_id": "3"}
RENAMES = "#4 Rename workspaces to projects"
LIMITS = {"space_id": "api", "change_request_id": "4"}
ORGANIZATION = "tallowick"


class Watch:
    """A `presscheck inbox --watch` process; threads put its output into queues, line by line."""

    def __init__(self, shell: Shell, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "presscheck", "inbox", "--watch", "--interval", "1", *options],
            env=shell.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.readers: list[threading.Thread] = []
        self.out, self.err = (self._lines(stream) for stream in (self.process.stdout, self.process.stderr))

    def _lines(self, stream: IO[str] | None) -> "queue.Queue[str]":
        assert stream
        lines: queue.Queue[str] = queue.Queue()

        def read() -> None:
            with stream:
                for line in stream:
                    lines.put(line.rstrip("\n"))

        self.readers.append(threading.Thread(target=read))
        self.readers[-1].start()
        return lines

    def end(self, by: signal.Signals) -> int:
        self.process.send_signal(by)
        return self.process.wait(30)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()


@pytest.fixture
def mia(service: RunningService) -> str:
    """The token of another user."""
    return token_of(service, "mia")


@pytest.fixture(scope="module")
def looked(shared_service: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory whose user has checked for events once."""
    service, home = shared_service(sample=True), tmp_path_factory.mktemp("looked")

    async def first_look() -> None:
        async with running_engine(service, home) as engine:
            await engine.events.poll()
            assert said(engine) == [], "the first check reports no events"

    asyncio.run(first_look())
    return home


@pytest.fixture
def home(looked: Path, tmp_path: Path) -> Path:
    """A copy of the home directory that has checked for events once."""
    return Path(shutil.copytree(looked, tmp_path / "home"))


def said(engine: Engine) -> list[str]:
    """Return the sentences of all events so far, oldest first."""
    return [sentence(event) for event in reversed(engine.events.recent())]


async def look(engine: Engine, since: int = 0) -> list[str]:
    """Check for events and return the sentences after the first `since`."""
    await engine.events.poll()
    return said(engine)[since:]


@pytest.mark.slow
async def test_event_is_reported_once(service: RunningService, mia: str, home: Path) -> None:
    async with running_engine(service, home) as engine:
        before = len(await look(engine))
        [threads] = await say(service, mia, ListComments(**GUIDE, order="asc"))
        no = Document(markdown="No")
        await say(
            service,
            mia,
            PostComment(**GUIDE, body=Document(markdown="Hm")),
            PostReply(**GUIDE, comment_id=threads.items[0].id, body=Document(markdown="Yes")),
            SubmitReview(space_id="api", change_request_id="2", status="changes-requested", comment=no),
            SubmitReview(**LIMITS, status="approved"),
            MergeChangeRequest(**LIMITS),
            RequestReviewers(space_id="cli", change_request_id="2", users=("robin",)),
        )
        sentences = await look(engine, before)
        assert sentences[:6] == [
            "Mia commented on #5 Rewrite the auth guide",
            "Mia commented on #5 Rewrite the auth guide",
            "Mia requested changes to #2 Explain 409 with an example",
            "Mia approved #4 Limits per workspace",
            "Mia merged #4 Limits per workspace",
            "Mia requested your review of #2 Install on Windows",
        ]
        assert {*sentences[6:]} == {
            "#5 Rewrite the auth guide is outdated: main has new changes",
            "#2 Explain 409 with an example is outdated: main has new changes",
        }
        assert await look(engine, before) == sentences
    async with running_engine(service, home) as engine:
        assert await look(engine, before) == sentences, "a restart reports no event twice"
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="Again")))
    async with running_engine(service, home) as engine:
        assert await look(engine, before) == [*sentences, sentences[0]], "events since the last run are reported"

        # the user's own actions are not events
        before = len(said(engine))
        sites = await engine.read(ListSites(organization_id=ORGANIZATION))
        [hidden] = [item.id for item in sites.items if not item.published]
        site = {"organization_id": ORGANIZATION, "site_id": hidden}
        await engine.write(PostComment(**GUIDE, body=Document(markdown="Mine"))).landed()
        await engine.write(SubmitReview(**KEYRING, status="approved")).landed()
        await engine.write(MergeChangeRequest(**KEYRING)).landed()
        await engine.write(PublishSite(**site)).landed()
        assert await look(engine, before) == []

        # another user's merge causes a conflict
        [pages, meanwhile] = await say(
            service,
            mia,
            GetCurrentRevision(space_id="guides"),
            CreateChangeRequest(space_id="guides", subject="Meanwhile"),
        )
        page = next(item.id for item in pages.pages if item.slug == "quickstart")
        at = {"space_id": "guides", "change_request_id": meanwhile.id}
        other = UpdatePage(page=page, document=Document(markdown="All is new.\n"))
        await say(
            service,
            mia,
            EditChangeRequestContent(**at, changes=(other,), compat=False),
            UpdateChangeRequest(**at, status="open"),
            MergeChangeRequest(**at),
        )
        sentences = [f"{RENAMES} is outdated: main has new changes", f"{RENAMES} conflicts with main"]
        for _ in range(2):
            assert [item for item in await look(engine, before) if item.startswith(RENAMES)] == sentences


async def test_done_change_request_returns_on_an_event_but_not_on_an_own_action(
    service: RunningService, mia: str, home: Path
) -> None:
    async with running_engine(service, home) as engine:
        await engine.events.poll()
        request = await engine.read(GetChangeRequest(**GUIDE))
        engine.triage.done(request)
        await engine.write(PostComment(**GUIDE, body=Document(markdown="Mine"))).landed()
        engine.events.pause, engine.events.first = 0.1, 0
        watched = engine.events.watch()
        await anext(watched)
        request = await engine.read(GetChangeRequest(**GUIDE))
        assert engine.triage.hidden_state(request)
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="And?")))
        async for events, _ in watched:
            if events:
                break
        assert engine.triage.hidden_state(await engine.read(GetChangeRequest(**GUIDE))) is None
        assert engine.events.unread == {request.id}
        engine.triage.done(request.model_copy(update={"updated_at": "2099-01-01"}))
        engine.triage.on_event(request.id, "2098-01-01")
        assert engine.triage.hidden_state(request), "the event is older than the version marked as done"
        assert engine.triage.hidden_state(request.model_copy(update={"revision": "another"})) is None, "new content"
        await watched.aclose()


@pytest.mark.slow
async def test_two_instances_share_one_event_log_and_notify_once(service: RunningService, mia: str, home: Path) -> None:
    async with running_engine(service, home) as first, running_engine(service, home) as second:
        received: dict[Engine, list[Event]] = {first: [], second: []}
        notified: list[Engine] = []

        async def listen(engine: Engine) -> None:
            engine.events.pause, engine.events.first = 0.2, 0
            async for events, _ in engine.events.watch():
                received[engine] += events
                if events and engine.events.may_notify():
                    notified.append(engine)

        before = len(await look(first))
        tasks = [asyncio.ensure_future(listen(engine)) for engine in received]
        try:
            await asyncio.sleep(0)
            await say(service, mia, PostComment(**GUIDE, body=Document(markdown="Hm")))
            await until(lambda: len(received[first]) == len(received[second]) == 1)
            await say(service, mia, PostComment(**GUIDE, body=Document(markdown="Hm?")))
            await until(lambda: len(received[first]) == len(received[second]) == 2)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert received[first] == received[second]
        assert len(notified) == 2
        assert len(said(first)) == before + 2


@pytest.mark.slow
async def test_app_shows_an_event_marks_the_row_and_notifies_once(
    service: RunningService, mia: str, home: Path
) -> None:
    app, sent = app_on(service, home, notify="osc9"), list[str]()
    app.engine.events.pause, app.engine.events.first = 0.2, 0
    app.write_to_terminal = sent.append
    async with running(app) as pilot:
        await until_shown(pilot, shows="5 Rewrite the auth guide")
        await until_shown(pilot, holds=lambda: bool(app.engine.triage.followed))
        await pilot.press("4", "g", "g")
        sent.clear()
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="\x1b]0;owned\x07")))
        await until_shown(pilot, shows="Mia commented on #5 Rewrite the auth guide")
        await until_shown(pilot, shows="◆ #5 Rewrite the auth guide")
        assert sent == ["\x1b]9;presscheck: Mia commented on #5 Rewrite the auth guide\a"]
        await pilot.press("D")
        await until_shown(pilot, shows="□ #5 Rewrite the auth guide")
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="Well?")))
        await until_shown(pilot, shows="◆ #5 Rewrite the auth guide")
        await pilot.press("enter")
        await until_shown(pilot, holds=lambda: isinstance(app.screen, ReviewScreen))
        await until_shown(pilot, holds=lambda: app.screen.session.model.request is not None)
        shown = app.screen.session.model.request
        await until_shown(pilot, holds=lambda: shown.id not in app.engine.events.unread)
        assert len(sent) == 2


@pytest.mark.slow
async def test_watch_prints_events_and_runs_the_notify_command(
    service: RunningService, mia: str, tmp_path: Path
) -> None:
    shell, log = signed_in(tmp_path / "home", service), tmp_path / "told"
    script = tmp_path / "notify.py"
    script.write_text(
        "import json, os, sys\n"
        f"with open({str(log)!r}, 'a') as file:\n"
        "    events = [json.loads(line)['event'] for line in sys.stdin]\n"
        "    print(json.dumps([sys.argv[1:], events, 'PRESSCHECK_TOKEN' in os.environ]), file=file)\n"
    )
    command = json.dumps(shlex.join([sys.executable, str(script), "--flag"]))
    shell.config.write_text(f"[profiles.default]\nnotify_command = {command}\n")
    watch = Watch(shell)
    try:
        assert watch.err.get(timeout=60) == "Checking for new events every 1 s. Press ctrl+c to stop."
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="$(touch owned) \x1b[2J")))
        watch.out.get(timeout=60)
        await say(service, mia, PostComment(**GUIDE, body=Document(markdown="Hm")))
        time, *line = watch.out.get(timeout=60).split("\t")
        assert time.startswith("20")
        assert line == ["reply", "Mia Okonkwo", "api#5", "Rewrite the auth guide"]
        await until(lambda: log.exists() and log.read_text().count("\n") == 2)
        text = "presscheck: Mia commented on #5 Rewrite the auth guide"
        notified = log.read_text()
        assert [json.loads(line) for line in notified.splitlines()] == [[["--flag", text], ["reply"], False]] * 2
        service.stop()
        assert watch.err.get(timeout=60).endswith(": retrying at longer and longer intervals.")
        service.start()
        assert watch.err.get(timeout=60) == "Back online."
        assert watch.end(signal.SIGTERM) == 143
    finally:
        watch.close()
    assert watch.out.empty() and watch.err.empty()


async def test_failing_notify_command_is_named_and_quiet_hours_skip_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Log:
        def may_notify(self) -> bool:
            return True

    log, events = cast("EventLog", Log()), [Event("reply", name="Mia", number=5, subject="Rewrite")]
    monkeypatch.setattr(event_notifications, "now", lambda: datetime(2026, 5, 20, 12, tzinfo=UTC))
    profile = Profile(notify_command="no-such-program-here")
    with pytest.raises(PresscheckError, match="notify_command: no-such-program-here is not installed: install it"):
        await notify(log, profile, events, None)
    await notify(log, profile, [], None)
    await notify(log, replace(profile, quiet_hours="00:00-23:59"), events, None)


def test_watch_rejects_incompatible_options(service: RunningService, tmp_path: Path) -> None:
    shell = signed_in(tmp_path / "home", service)
    for options, message in (
        (("--interval", "5"), "requires --watch"),
        (("--watch", "--view", "mine"), "cannot be used with --watch"),
    ):
        result = shell.run("inbox", *options)
        assert (result.exit_code, message in result.stderr) == (2, True)
    shell.env["PRESSCHECK_TOKEN"] = "nobody's"
    result = shell.run("inbox", "--watch")
    assert result.exit_code == 4, result.stderr


@pytest.mark.service(shared=False)
async def test_digest_lists_changes_since_a_time(service: RunningService, mia: str, tmp_path: Path) -> None:
    shell = signed_in(tmp_path / "home", service)
    await say(
        service,
        mia,
        CreateChangeRequest(space_id="cli", subject="A [new](x) *one* <b>"),
        SubmitReview(**LIMITS, status="approved"),
        MergeChangeRequest(**LIMITS),
        SubmitReview(**TYPOS, status="approved"),
        PostComment(**TYPOS, body=Document(markdown="Once more")),
    )
    digest = await asyncio.to_thread(shell.ok, "inbox", "--since", "today", "--format", "markdown")
    assert digest.startswith("# Tallowick since ")
    sections = {part.partition(" (")[0]: part for part in digest.split("\n## ")[1:]}
    assert "Needs your review" in sections
    assert sections["Merged"].splitlines()[2].startswith("- [#4 Limits per workspace](http")
    assert sections["Merged"].startswith("Merged (1)\n")
    assert "\x1b" not in digest
    [record] = await asyncio.to_thread(shell.json, "inbox", "--since", "today", "--limit", "1")
    assert [row["subject"] for row in record["merged"]] == ["Limits per workspace"]
    assert len(record["waiting"]) == 1
    plain = await asyncio.to_thread(shell.ok, "inbox", "--since", "today")
    guides = plain.partition("Guides #3 Fix typos in quickstart, by Noor Haddad\n")[2].splitlines()
    assert guides[0].strip().startswith("approved by ") and "Mia Okonkwo" in guides[0]
    assert guides[1].strip() == "1 comment by Mia Okonkwo"


async def test_digest_rejects_future_times_and_incompatible_options(service: RunningService, tmp_path: Path) -> None:
    shell = signed_in(tmp_path / "home", service)
    result = await asyncio.to_thread(shell.run, "inbox", "--since", "2099-01-01")
    assert (result.exit_code, "--since: must be" in result.stderr) == (2, True)
    for options in (("--since", "1d", "--watch"), ("--since", "1d", "--view", "mine"), ("--format", "markdown")):
        refused = await asyncio.to_thread(shell.run, "inbox", *options)
        assert refused.exit_code == 2, options
