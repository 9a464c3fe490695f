"""Options and administration commands of the service."""

from __future__ import annotations

import itertools
import json
import os
import re
import secrets
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from tests.postgresql import Cluster
from tests.running_service import RunningService, running_service
from tests.service.serve_command import run
from tests.service.server import line, serving
from tests.web_server import web_server

from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import UserRow
from presscheck.service.server import server
from presscheck.service.server.backup import export_all
from presscheck.service.web.assets import LARGEST_SCRIPT
from presscheck.wiring import _serve_options


def test_every_operation_has_a_handler() -> None:
    ran = run("--list")
    lines = ran.stdout.splitlines()
    assert ran.exit_code == 0 and len(lines) == 294
    assert not [one for one in lines if "no handler" in one]
    assert any(re.match(r"GetSpace +spaces.get_space +GET /spaces/\{space_id\}$", one) for one in lines)


def test_problems_of_documentation_are_summarized_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, problems = tmp_path / "docs-problems.txt", ["README.md:3: gone-a.md\x1b[2J", "README.md:5: gone-b.md"]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    server._report_problems(problems, file)
    assert file.read_text("utf-8").splitlines() == problems
    shown, listed = capsys.readouterr().err.splitlines()
    assert shown.startswith("2 problems in the documentation, such as: README.md:3: gone-a.md") and "\x1b" not in shown
    assert listed == f"All are listed in {file}"


def test_option_mermaid_accepts_only_the_script_of_mermaid(tmp_path: Path) -> None:
    file = tmp_path / "other.js"
    for content in ("alert(1)", 'globalThis["mermaid"] = {};' + " " * LARGEST_SCRIPT):
        file.write_text(content)
        refused = run("--mermaid", str(file), "--data", str(tmp_path / "data"))
        assert refused.exit_code != 0 and "must be dist/mermaid.min.js of the npm package mermaid" in refused.stderr


def test_a_token_is_created_listed_and_revoked(tmp_path: Path) -> None:
    service = RunningService(tmp_path)
    where = ("--database", service.database_url, "--data", str(tmp_path))
    made = run(*where, "token", "create", service.owner_id, "--name", "ci", "--days", "1")
    assert made.exit_code == 0
    token = made.stdout.strip()
    listed = run(*where, "token", "list").stdout.splitlines()
    assert len(listed) == 2 and " ci  " in listed[1] and token not in "".join(listed)
    service.start()
    try:
        headers = {"authorization": f"Bearer {token}"}
        database = Database(service.database_url)
        for moment, status in (("2020-01-01", 401), ("2999-01-01", 200)):
            expiring = text(f"UPDATE tokens SET expires_at = '{moment}' WHERE expires_at > ''")
            database.write(lambda session, change=expiring: session.execute(change))
            answer = httpx.get(f"{service.base_url}/v1/user", headers=headers)
            assert (answer.status_code, "has expired." in answer.text) == (status, status == 401)
        database.close()
        assert run(*where, "token", "revoke", listed[1].split()[0]).exit_code == 0
        assert httpx.get(f"{service.base_url}/v1/user", headers=headers).status_code == 401
    finally:
        service.stop()
    assert token.encode() not in (tmp_path / "service.sqlite").read_bytes()
    refused = run(*where, "token", "create", "nobody@example.org")
    assert refused.exit_code == 2 and "no user nobody@example.org" in refused.stderr


def test_ambiguous_email_is_refused_for_a_token(tmp_path: Path) -> None:
    service = RunningService(tmp_path)
    with closing(Database(service.database_url)) as database, database.writing.begin() as session:
        for user_id, email in (("first", "ana@example.org"), ("second", "Ana@Example.org")):
            session.add(UserRow(id=user_id, display_name="Ana", email=email, created_at="2026-01-01"))
    refused = run("--data", str(tmp_path), "token", "create", "ana@example.org")
    assert refused.exit_code == 2 and refused.stdout == ""
    assert "2 users have the email ana@example.org: name one by id: first, second" in refused.stderr
    assert run("--data", str(tmp_path), "token", "create", "second").exit_code == 0
    assert "Ana@Example.org" in run("--data", str(tmp_path), "token", "list").stdout


def test_token_of_an_invited_user_works_only_during_the_membership(tmp_path: Path) -> None:
    with running_service(tmp_path) as service, httpx.Client(base_url=f"{service.base_url}/v1") as http:
        owner = {"authorization": f"Bearer {service.token}"}
        organization = f"/orgs/{http.get('/orgs', headers=owner).json()['items'][0]['id']}"
        invites = {"emails": ["ana@example.org"], "role": "edit"}
        (ana,) = http.post(f"{organization}/invites", json=invites, headers=owner).json()["users"]
        made = run("--data", str(tmp_path), "token", "create", "ana@example.org", "--name", "laptop")
        own = {"authorization": f"Bearer {made.stdout.strip()}"}
        assert http.get("/user", headers=own).json()["id"] == ana
        for status in (200, 404, 200):
            assert http.get(organization, headers=own).status_code == status
            if status == 200:
                assert http.delete(f"{organization}/members/{ana}", headers=owner).status_code in (204, 205)
            else:
                http.post(f"{organization}/invites", json=invites, headers=owner)


@pytest.mark.slow
def test_export_can_be_imported_into_the_other_engine(postgresql: Cluster, tmp_path: Path) -> None:
    service = RunningService(tmp_path, sample=True)
    places = [
        (service.database_url, tmp_path),
        (postgresql.new_database(), tmp_path / "second"),
        (f"sqlite:///{tmp_path / 'third.sqlite'}", tmp_path / "third"),
    ]
    for number, ((url, data), (other_url, other_data)) in enumerate(itertools.pairwise(places)):
        file = tmp_path / f"{number}.zip"
        exported = run("--database", url, "--data", str(data), "export", str(file))
        assert exported.exit_code == 0, exported.stderr
        there = ("--database", other_url, "--data", str(other_data))
        imported = run(*there, "import", str(file))
        assert imported.exit_code == 0 and imported.stderr.split()[0] == exported.stderr.split()[0]
    again = run(*there, "import", str(file))
    assert again.exit_code == 2 and "already has users" in again.stderr

    answers: list[object] = []
    for url, data in places:
        one = RunningService.__new__(RunningService)
        one.__dict__.update(service.__dict__, database_url=url, directory=data)
        one.start()
        headers = {"authorization": f"Bearer {service.token}"}
        org = httpx.get(f"{one.base_url}/v1/orgs", headers=headers).json()["items"][0]["id"]
        paths = (f"/orgs/{org}/spaces", f"/orgs/{org}/change-requests", f"/orgs/{org}/search?query=lamp")
        answers.append([httpx.get(f"{one.base_url}/v1{path}", headers=headers).json() for path in paths])
        one.stop()
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    "command", [["token", "list"], ["export", "all.zip"], ["files", "move", "--to", "disk"]], ids=lambda words: words[0]
)
def test_commands_neither_create_nor_migrate_a_database(tmp_path: Path, command: list[str]) -> None:
    data, backup = tmp_path / "data", tmp_path / "all.zip"
    words = [str(backup) if word == "all.zip" else word for word in command]
    refused = run("--data", str(data), *words)
    assert refused.exit_code == 2 and "has no data of a service: check --database and --data" in refused.stderr
    assert not data.exists() and not backup.exists()
    data.mkdir()
    with closing(sqlite3.connect(data / "service.sqlite")) as older:
        older.execute("CREATE TABLE alembic_version AS SELECT '0003' AS version_num")
        older.commit()
    before = (data / "service.sqlite").read_bytes()
    refused = run("--data", str(data), *words)
    assert refused.exit_code == 2 and "has version 0003 of an older presscheck" in refused.stderr
    assert (data / "service.sqlite").read_bytes() == before and not backup.exists()


def test_failed_write_of_an_export_is_reported_in_one_line(tmp_path: Path) -> None:
    service = RunningService(tmp_path)
    for file in (tmp_path / "gone" / "all.zip", Path("/proc/all.zip")):
        ran = run("--data", str(service.directory), "export", str(file))
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert ran.stderr == f"presscheck: could not write {file}: No such file or directory\n"


def test_a_damaged_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("nothing")
    ran = run("--data", str(tmp_path / "d"), "import", str(tmp_path / "x.zip"))
    assert ran.exit_code == 2 and "cannot be read" in ran.stderr
    service, damaged = RunningService(tmp_path), tmp_path / "damaged.zip"
    assert run("--data", str(service.directory), "export", str(damaged)).exit_code == 0
    name, content = b"tables/users.jsonl", damaged.read_bytes()
    start = content.index(name) + len(name) + int.from_bytes(content[content.index(name) - 2 :][:2], "little")
    damaged.write_bytes(content[:start] + b"\xff" * 8 + content[start + 8 :])
    ran = run("--data", str(tmp_path / "d"), "import", str(damaged))
    assert ran.exit_code == 2 and "cannot be read: Error -3 while decompressing" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.slow
def test_failed_export_leaves_no_file(postgresql: Cluster, tmp_path: Path) -> None:
    service, file = RunningService(tmp_path, database_url=postgresql.new_database()), tmp_path / "all.zip"
    with closing(Database(service.database_url)) as database, database.writing.begin() as session:
        store = DiskBlobStore(tmp_path)
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"

        def ids() -> list[str]:  # called by the export during its transaction
            session.execute(text(f"{end} AND pid <> pg_backend_pid()"))
            return []

        store.ids = ids
        with closing(Database(service.database_url)) as other, pytest.raises(DBAPIError):
            export_all(other, store, file)
    assert not [path for path in tmp_path.iterdir() if "all.zip" in path.name]


@pytest.mark.slow
def test_workers_get_the_options_and_dead_workers_are_replaced(tmp_path: Path) -> None:
    options = ("--workers", "2", "--cache", "16", "--allow-network", "127.0.0.0/8", "--integration-fetch", "127.0.0.1")
    script = "export default { fetch: async () => Response.json({ element: await (await fetch(%s)).json() }) }"
    with (
        web_server({"/": '{"type": "block"}'}) as other,
        serving(tmp_path, "--port", "0", *options) as process,
    ):
        address, token = line(process), line(process).removeprefix("token: ")
        children = wait_for(lambda: len(children_of(process.pid)) == 2 and children_of(process.pid))
        commands = [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]
        assert all(b"--cache\x0016\x00" in command for command in commands)
        assert not any(b"sqlite:" in command for command in commands), "the URL of a database may have a password"
        assert wait_for(lambda: healthy(address))
        os.kill(children[0], signal.SIGKILL)
        assert wait_for(lambda: len(set(children_of(process.pid)) - {children[0]}) == 2)
        assert wait_for(lambda: healthy(address))
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{address}/v1", headers=headers, timeout=60) as http:
            [organization] = http.get("/orgs").json()["items"]
            details = {"title": "Lamp", "description": "", "scopes": [], "organization": organization["id"]}
            made = http.post("/integrations/lamp", json={**details, "script": script % json.dumps(f"{other.url}/")})
            assert made.status_code == 200, made.text
            shown = http.post("/integrations/lamp/render", json={"componentId": "c", "props": {}, "context": {}})
        assert (shown.status_code, other.asked) == (200, ["/"]), shown.text
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def healthy(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def children_of(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for(what: Callable[[], Any]) -> Any:
    for _ in range(300):
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_allowed_networks_are_not_allowed_hosts_of_scripts(tmp_path: Path) -> None:
    others = dict.fromkeys(("public_url", "rate_limit", "cache", "mermaid", "release", "log_requests", "git_root"))
    given = {"files": None, "translator": (), "allowed": ("127.0.0.0/8",), "host": "127.0.0.1", **others}
    for hosts in ((), ("lamps.example",)):
        options = _serve_options("sqlite://", tmp_path, script_hosts=hosts, **given)
        assert (options.outside.allowed, options.outside.scripts.hosts) == (("127.0.0.0/8",), hosts)


def test_an_invalid_network_is_refused(tmp_path: Path) -> None:
    ran = run("--data", str(tmp_path), "--allow-network", "here")
    assert ran.exit_code == 2 and "--allow-network here: must be a network, such as" in ran.stderr


DATABASE = "could not open the database: %s--database or PRESSCHECK_DATABASE_URL must be a URL such as postgresql://"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--database", "mysql://ada:secret@x/y"], DATABASE % "mysql is not supported: "),
        (["--database", "postgresql+asyncpg://ada:secret@x/y"], DATABASE % "postgresql+asyncpg is not supported: "),
        (["--database", "docs"], DATABASE % ""),
        (["--database", "postgresql://ada:secret@x:port/y"], DATABASE % ""),
        (["--database", "postgresql://ada:secret@127.0.0.1:9/y?a=b"], "postgresql+psycopg://ada:***@127.0.0.1:9/y: "),
        (["--database", "sqlite:////nowhere/docs"], "the database sqlite:////nowhere/docs: unable to open"),
        (["--port", "65536"], "Invalid value for '--port': 65536 is not in the range"),
        (["--socket", f"/tmp/{'x' * 200}"], "could not listen on /tmp/xx"),
        (["--translator", "it's"], "--translator: No closing quotation"),
        (["--integration-fetch", "https://api.example.org/"], "--integration-fetch https://api.example.org/: must be"),
        (["--integration-fetch", "api.example.org:443"], "must be a host, such as api.example.org, *.example.org or *"),
        (["--public-url", "docs.example.org"], "--public-url or PRESSCHECK_PUBLIC_URL must be a URL such as https://"),
        (["--public-url", "https://ada:secret@docs.example.org"], "--public-url or PRESSCHECK_PUBLIC_URL must be"),
        (["--public-url", "https://docs.example.org:x"], "--public-url or PRESSCHECK_PUBLIC_URL must be"),
    ],
)
def test_invalid_option_is_reported_in_one_line_with_its_name(tmp_path: Path, options: list[str], words: str) -> None:
    ran = run("--data", str(tmp_path), "--port", "0", *options)
    *usage, problem = ran.stderr.splitlines()
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert words in problem and "None" not in problem and "secret" not in ran.stderr
    assert not usage or usage[0].startswith("Usage: "), usage


@pytest.mark.slow
def test_service_does_not_start_with_a_read_only_database(postgresql: Cluster, tmp_path: Path) -> None:
    url, foreign = postgresql.new_database(), postgresql.new_database()
    Database(url).close()
    for command, where in (
        (f"ALTER DATABASE {make_url(url).database} SET default_transaction_read_only = on", url),
        ("CREATE ROLE lodger LOGIN", foreign),
    ):
        engine = create_engine(make_url(where).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(command))
        engine.dispose()
    start = ("--data", str(tmp_path), "--port", "0", "--database", url)
    assert "database: the database is read-only" in run(*start, "--check").stdout
    refused = run(*start)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "presscheck: The database is read-only: cannot execute" in refused.stderr
    lodger = foreign.replace("presscheck@", "lodger@")
    checked = run("--check", "--data", str(tmp_path), "--port", "0", "--database", lodger)
    assert "database: the user may not create tables: make it the owner of the database" in checked.stdout


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("readable", "mode 0600"),
        ("short", "43 to 1000"),
        ("blank", "43 to 1000"),
        ("link", "must not be a link"),
        ("pipe", "must be a file"),
        ("foreign", "another user"),
        ("nowhere", "No such file"),
    ],
)
def test_an_unsafe_token_file_is_refused(tmp_path: Path, fault: str, words: str) -> None:
    token_file = tmp_path / "token"
    token_file.touch(0o600)
    token_file.write_text(secrets.token_urlsafe(32))
    if fault == "readable":
        token_file.chmod(0o644)
    elif fault == "short":
        token_file.write_text("x")
    elif fault == "blank":
        token_file.write_text("a b " * 20)
    elif fault == "link":
        token_file = tmp_path / "link"
        token_file.symlink_to("token")
    elif fault == "pipe":
        token_file = tmp_path / "pipe"
        os.mkfifo(token_file, 0o600)
    elif fault == "foreign":
        if os.geteuid() == 0:
            os.chown(token_file, 12345, -1)
        else:
            token_file = Path("/etc/passwd")
    else:
        token_file = tmp_path / "gone" / "token"
    ran = run("--data", str(tmp_path / "data"), "--port", "0", "--token-file", str(token_file))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert words in ran.stderr and len(ran.stderr.strip().splitlines()) == 1, ran.stderr


@pytest.mark.engines
def test_check_reports_each_part_and_changes_nothing(tmp_path: Path, database_url: str) -> None:
    data = tmp_path / "data"
    checked = run("--check", "--port", "0", "--data", str(data), "--token-file", str(tmp_path / "token"))
    assert checked.exit_code == 0, checked.output
    assert re.sub(r":\d+\n", ":PORT\n", checked.stdout, count=1) == (
        f"address: http://127.0.0.1:PORT\ndata: {data} (new)\ndatabase: new\nfiles: disk\n"
        f"token file: {tmp_path / 'token'} (new)\n"
    )
    assert not any(tmp_path.iterdir())
    service = RunningService(tmp_path, database_url=database_url)
    service.start()
    try:
        where = ("--data", str(tmp_path), "--database", service.database_url)
        beside = run("--check", *where, "--port", str(service.port))
        assert beside.exit_code == 6 and beside.stderr == "presscheck: problems: address\n"
        assert "database: ready\nfiles: disk\n" in beside.stdout
        assert "Address already in use" in beside.stdout
    finally:
        service.stop()
    database = Database(service.database_url)
    with database.writing.begin() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    assert "ready; the start migrates it from version 0001" in run("--check", *where, "--port", "0").stdout
    with database.writing.begin() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    newer = run("--check", *where, "--port", "0")
    assert newer.exit_code == 6 and "written by a newer presscheck (database version 9999)" in newer.stdout


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--database", "mysql://docs"], "database: mysql is not supported: --database or"),
        (["--database", "sqlite:////dev/null/docs.sqlite"], "database: /dev/null is not a folder"),
        (["--database", "postgresql://ada:secret@127.0.0.1:9/docs"], "Connection refused"),
        (["--files", "s3:docs"], "files: the location of files must be disk"),
        (["--token-file", "/dev/null"], "token file: --token-file /dev/null: must be a file"),
        (["--data", "/dev/null/data"], "data: /dev/null is not a folder"),
        (["--data", f"/tmp/{'long' * 100}"], "File name too long"),
        (["--host", "192.0.2.1"], "address: could not listen on 192.0.2.1:"),
    ],
)
def test_check_reports_problems_that_prevent_a_start(tmp_path: Path, options: list[str], problem: str) -> None:
    checked = run("--port", "0", "--data", str(tmp_path), *options, "--check")
    assert checked.exit_code == 6, checked.output
    assert problem in checked.stdout
    assert "secret" not in checked.output


def test_check_reports_problems_of_both_database_and_files(tmp_path: Path) -> None:
    words = ("--check", "--port", "0", "--data", str(tmp_path), "--database", "mysql://docs")
    both = run(*words, "--files", "s3:docs")
    assert both.stderr == "presscheck: problems: database, files\n"
    assert "files: the location of files must be disk" in both.stdout
    assert "files:" not in run(*words).stdout, "the location is in the database"
