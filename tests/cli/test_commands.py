"""Commands against the real service: output, effects and errors."""

import json
import re
import shlex
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import click
import httpx
import jsonschema
import pexpect
import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService, running_service
from tests.service_plans import limit_site

from presscheck.cli import session
from presscheck.cli.completion import SHELLS
from presscheck.cli.operations.api_commands import operations
from presscheck.cli.space.commands import space
from presscheck.extras import EXTRAS
from presscheck.store.outbox import Outbox


def test_commands_that_are_imported_late_are_those_that_their_functions_add() -> None:
    assert space.lazy_parts
    for (module, function), names in space.lazy_parts.items():
        group = click.Group()
        getattr(import_module(f"presscheck.cli.{module}"), function)(group)
        assert sorted(names) == sorted(group.commands)


def begun(shell: Shell, space: str = "cli") -> str:
    return shell.ok("cr", "create", space, "--subject", "From a shell").strip()


@pytest.mark.slow
def test_a_change_request_from_create_to_merge(shell: Shell) -> None:
    which = begun(shell)
    shell.ok("cr", "edit", which, "--status", "open", "--subject", "From a script")
    shell.ok("cr", "edit", which, "--page", "install", "--body", "# Install\n\nWith one hand.")
    assert "With one hand" in shell.ok("space", "page", "cli", "install", "--cr", which)
    changed = shell.json("cr", "diff", which)
    assert [one["type"] for one in changed] == ["page_edited"]
    assert "With one hand" in changed[0]["after"]
    assert "With one hand" not in changed[0]["before"]
    said = shell.ok("cr", "diff", which)
    assert "page edited: install" in said
    assert "+ With one hand." in said or "With one hand." in said
    assert shell.ok("cr", "diff", which, "--stat").count("\n") == 1
    assert re.search(r"│ \+ With one hand\.", shell.ok("cr", "diff", which, "--format", "split"))
    assert "# Install" in shell.ok("cr", "diff", which, "--format", "source")
    folded = [shell.ok("cr", "diff", "api#5", "-U", number).count("\n") for number in ("0", "3", "99")]
    assert folded[0] < folded[1] < folded[2]
    assert json.loads(shell.ok("cr", "diff", which, "--format", "json")) == changed
    assert "One hand" not in shell.ok("space", "page", "cli", "install")
    assert shell.run("cr", "merge", which).exit_code == 2, "without a terminal it must be said"
    assert shell.json("cr", "merge", which, "--yes", "--if-clean")["result"] == "merge"
    assert "With one hand" in shell.ok("space", "page", "cli", "install")
    again = shell.run("cr", "merge", which, "--yes")
    assert (again.exit_code, again.stdout) == (5, "")
    assert "merged" in again.stderr


def test_merge_if_clean_refuses_unless_every_requirement_is_met(shell: Shell) -> None:
    refused = shell.run("cr", "merge", "runbook#2", "--yes", "--if-clean")
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert "conflicts with main in" in refused.stderr
    assert shell.json("cr", "show", "runbook#2")["changeRequest"]["status"] == "open"
    updated = shell.run("cr", "update", "runbook#2")
    assert updated.exit_code == 5
    refused = shell.run("cr", "merge", "runbook#2", "--yes", "--if-clean")
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert "Not merged: unresolved conflicts in" in refused.stderr
    refused = shell.run("cr", "merge", "runbook#2", "--yes")
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert "add --with-conflicts" in refused.stderr
    assert shell.json("cr", "show", "runbook#2")["changeRequest"]["status"] == "open"
    merged = shell.run("cr", "merge", "runbook#2", "--yes", "--with-conflicts")
    assert (merged.exit_code, "Merged with conflicts" in merged.stderr) == (5, True)
    which = begun(shell, "runbook")
    shell.ok("cr", "comment", which, "--body", "Wait")
    refused = shell.run("cr", "merge", which, "--yes", "--if-clean")
    assert (refused.exit_code, "1 open comment" in refused.stderr) == (5, True)
    assert shell.json("cr", "show", which)["changeRequest"]["status"] != "merged"


@pytest.mark.slow
def test_comment_reply_and_resolve(shell: Shell, tmp_path: Path) -> None:
    which = begun(shell, "runbook")
    ran = shell.run("cr", "comment", which, "--body", "One")
    assert (ran.exit_code, ran.stderr) == (0, "Comment added.\n")
    comment = ran.stdout.strip()
    (tmp_path / "reply.md").write_text("Two, *of it*")
    shell.ok("cr", "reply", which, comment, "-F", str(tmp_path / "reply.md"))
    shell.ok("cr", "comment", which, "--body-file", "-", typed="Three\n")
    shell.ok("cr", "resolve", which, comment)
    shown = shell.json("cr", "show", which)
    states = {one["body"]["markdown"].strip(): (one["status"], one["replies"]) for one in shown["comments"]}
    assert states == {"One": ("resolved", 1), "Three": ("open", 0)}
    shell.ok("cr", "resolve", which, comment, "--undo")
    shell.ok("cr", "reviewers", which, "--add", "Ada Moreau", "--add", "kenji")
    shell.ok("cr", "reviewers", which, "--remove", "kenji")
    assert [one["user"]["id"] for one in shell.json("cr", "reviewers", which)] == ["ada"]
    shell.ok("cr", "edit", which, "--status", "open")
    shell.ok("cr", "archive", which)
    assert shell.json("cr", "show", which)["changeRequest"]["status"] == "archived"


@pytest.mark.slow
def test_a_merged_change_request_is_undone(shell: Shell) -> None:
    refused = shell.run("cr", "revert", "api#4")
    assert (refused.exit_code, refused.stderr) == (1, "presscheck: #4 is not merged: there is nothing to revert\n")
    which = begun(shell)
    shell.ok("cr", "edit", which, "--status", "open", "--subject", "To be undone")
    shell.ok("cr", "edit", which, "--page", "install", "--body", "# Install\n\nWith a third hand.")
    shell.ok("cr", "merge", which, "--yes")
    ran = shell.run("cr", "revert", which)
    assert ran.exit_code == 0, ran.stderr
    number = which.partition("#")[2]
    assert re.fullmatch(rf"#\d+ undoes #{number}\.\n", ran.stderr)
    created = ran.stdout.strip()
    assert shell.json("cr", "show", created)["changeRequest"]["subject"] == 'Revert "To be undone"'
    assert "With a third hand" in shell.json("cr", "diff", created)[0]["before"]
    assert "With a third hand" not in shell.json("cr", "diff", created)[0]["after"]


def test_review(shell: Shell) -> None:
    assert shell.run("cr", "review", "api#4").exit_code == 2
    shell.ok("cr", "review", "api#4", "--request-changes", "--body", "Not yet")
    reviews = shell.json("cr", "show", "api#4")["reviews"]
    assert [one["status"] for one in reviews if one["reviewer"]["id"] == "robin"] == ["changes-requested"]


def test_a_change_request_by_number_id_or_url(shell: Shell) -> None:
    found = shell.json("cr", "show", "API docs#5", "--no-comments")["changeRequest"]
    for name in ("api#5", found["id"], found["urls"]["app"]):
        assert shell.json("cr", "show", name, "--no-comments")["changeRequest"]["id"] == found["id"]
        assert shell.ok("open", name).strip() == found["urls"]["app"]
    assert "5 has no space: write SPACE#5" in shell.run("cr", "show", "5").stderr
    assert shell.run("cr", "show", "nowhere#5").exit_code == 2
    assert shell.run("cr", "show", "no-such-id").exit_code == 2
    assert shell.run("cr", "show", "https://elsewhere.example/s/nothing/~/changes/3").exit_code == 2


@pytest.mark.slow
def test_lists_have_tabs_without_a_terminal(shell: Shell) -> None:
    rows = [line.split("\t") for line in shell.ok("cr", "list", "--space", "api").splitlines()]
    listed = shell.json("cr", "list", "--space", "api")
    assert [row[-1] for row in rows] == [one["id"] for one in listed]
    assert all(len(row) == 7 and row[2] == "open" for row in rows)
    assert len(shell.json("cr", "list", "--limit", "2")) == 2
    assert {one["status"] for one in shell.json("cr", "list", "--status", "merged")} == {"merged"}
    assert "\x1b" not in shell.ok("inbox") + shell.ok("cr", "diff", "guides#4") + shell.ok("org", "list")


LISTS = """
import os
from presscheck.cli.main import command
for more in ({}, {"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}):
    os.environ.update(more)
    command(["space", "list"], standalone_mode=False)
    print("END", flush=True)
"""
"""Prints a list on terminals of three kinds, of which the first has colors."""


@pytest.mark.slow
def test_colors_only_on_a_terminal_that_supports_them(shell: Shell) -> None:
    printed = pexpect.run(shlex.join([sys.executable, "-c", LISTS]), env=shell.environment, timeout=30).decode()
    *lists, _ = printed.split("END")
    assert ["Command line" in one for one in lists] == [True, True, True]
    assert ["\x1b[1m" in one for one in lists] == [True, False, False]


@pytest.mark.slow
def test_inbox_as_json(shell: Shell) -> None:
    [found] = shell.json("inbox")
    assert (found["view"], found["counts"]["needs-me"]) == ("needs-me", len(found["changeRequests"]))
    row = next(one for one in found["changeRequests"] if (one["space"], one["number"]) == ("api", 5))
    assert (row["subject"], row["spaceTitle"]) == ("Rewrite the auth guide", "API docs")
    assert {one["status"] for one in row["reviews"]} == {"approved", "changes-requested"}
    assert "robin" in [one["user"]["id"] for one in row["requestedReviewers"]]
    assert shell.json("inbox", "--view", "merged")[0]["changeRequests"][0]["status"] == "merged"


@pytest.mark.slow
def test_the_inbox_prints_saved_views(shell: Shell) -> None:
    shell.config.write_text(
        '[[views]]\nname = "By space"\ngroup = "space"\nsort = "-number"\n'
        '[[views]]\nname = "API mine"\nquery = "space:api reviewer:me"\n[[views]]\nname = "Bad"\nquery = "colour:red"\n'
    )
    [grouped] = shell.json("inbox", "--view", "by SPACE")
    assert (grouped["view"], grouped["counts"]["By space"]) == ("By space", len(grouped["changeRequests"]))
    places = [(one["spaceTitle"], -one["number"]) for one in grouped["changeRequests"]]
    assert places == sorted(places)
    [narrow] = shell.json("inbox", "--view", "API mine")
    assert {one["space"] for one in narrow["changeRequests"]} == {"api"}
    printed = shell.run("inbox", "--view", "By space")
    assert "\n\nAPI docs\n" in printed.stdout
    assert "skipped:" in printed.stderr
    assert "config.toml:10: views.3.query is invalid: colour: unknown filter" in printed.stderr
    refused = shell.run("inbox", "--view", "none")
    assert refused.exit_code == 2
    assert "Available: needs-me" in refused.stderr
    assert "API mine" in refused.stderr
    assert shell.run("config", "check").exit_code == 6
    shell.config.unlink()


@pytest.mark.slow
def test_open_opens_the_app_on_a_terminal(shell: Shell) -> None:
    for what, seen in (("api#5", "Rewrite the auth guide"), ("notes", "March 2026")):
        child = pexpect.spawn(
            sys.executable, ["-m", "presscheck", "open", what], env=shell.environment, dimensions=(30, 110), timeout=30
        )
        child.expect(seen)
        child.send("qq")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
    assert shell.ok("open", "api#5").strip().endswith("/app/spaces/api/change-requests/5")


@pytest.mark.slow
def test_spaces(shell: Shell) -> None:
    assert "install" in shell.ok("space", "pages", "cli")
    assert shell.json("space", "show", "Command line")["id"] == "cli"
    shell.ok("space", "lock", "notes")
    assert shell.json("space", "show", "notes")["editMode"] == "locked"
    shell.ok("space", "unlock", "notes")
    copy = shell.ok("space", "duplicate", "notes").strip()
    shell.ok("space", "move", copy, "--parent", "internal")
    assert shell.json("space", "show", copy)["parent"] == "internal"
    shell.ok("space", "move", copy, "--null", "parent")
    assert shell.json("space", "show", copy)["parent"] is None
    assert shell.run("space", "delete", copy).exit_code == 2
    shell.ok("space", "delete", copy, "--yes")
    assert copy not in shell.ok("space", "list")
    shell.ok("space", "restore", copy)
    assert copy in shell.ok("space", "list")
    assert "Install" in shell.ok("search", "install")


@pytest.mark.slow
def test_links_come_from_the_pages_if_the_service_does_not_support_them(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, release="0.202.0") as newest:
        shell = signed_in(tmp_path / "home", newest)
        found = [row for one in shell.json("space", "list") for row in shell.json("space", "links", one["id"])]
        assert {row["status"] for row in found} == {"ok"}
        assert "page" in {row["kind"] for row in found}
        assert all(row["page"] and row["target"] for row in found)
        assert "Authentication" in {page["title"] for page in shell.json("space", "links", "api", "--to", "Tokens")}
        lonely = {page["title"] for page in shell.json("space", "links", "api", "--orphans")}
        assert lonely
        assert "Tokens" not in lonely


@pytest.mark.slow
def test_sites(shell: Shell) -> None:
    docs, inside = "Tallowick Docs", "Inside Tallowick"
    before = shell.ok("site", "structure", docs)
    assert before.count("Command line  (section") == 1
    shell.ok("site", "move", docs, "News", "--before", "0000000004hbe47addbc")
    assert shell.ok("site", "structure", docs).startswith("News")
    assert shell.run("site", "move", docs, "News").exit_code == 2
    address = shell.ok("site", "publish", inside, "--yes").strip()
    assert address.startswith("http")
    assert shell.ok("site", "open", inside).strip() == address
    shell.ok("site", "unpublish", inside, "--yes")
    assert shell.run("site", "open", inside).exit_code == 6
    preview = shell.ok("site", "preview", inside).strip()
    assert httpx.get(preview).status_code == 200, "before it is published"
    with_request = shell.json("site", "preview", docs, "--cr", "API docs#5")["url"]
    page = httpx.get(with_request)
    assert "/~/changes/5/" in with_request and "Preview of change request #5" in page.text
    refused = shell.run("site", "preview", inside, "--cr", "API docs#5")
    assert refused.exit_code == 2 and "it does not have the space of #5" in refused.stderr
    opens_at = shell.ok("site", "preview", docs, "--site-space", "API docs", "--claims", "(beta:!t)").strip()
    assert opens_at.startswith("http") and httpx.get(opens_at).status_code == 200
    assert shell.run("site", "preview", docs, "--site-space", "none").exit_code == 2
    assert shell.run("site", "preview", docs, "--site-space", "API docs", "--cr", "API docs#5").exit_code == 2
    assert {line.split("\t")[0] for line in shell.ok("site", "check", docs).splitlines()} == {"info"}
    empty = shell.ok("site", "create", "--title", "Nothing in it").strip()
    ran = shell.run("site", "check", empty, "--json")
    assert (ran.exit_code, [one["kind"] for one in json.loads(ran.stdout)]) == (6, ["empty-site"])
    assert shell.run("site", "publish", empty, "--yes", "--if-clean").exit_code == 6
    assert not shell.json("site", "show", empty)["published"]
    schema = json.loads((Path(__file__).parent / "sarif" / "sarif-schema-2.1.0.json").read_text())
    for site in (docs, empty):
        jsonschema.validate(json.loads(shell.run("site", "check", site, "--sarif").stdout), schema)
    log = json.loads(shell.run("site", "check", empty, "--sarif").stdout)["runs"][0]
    result = log["results"][0]
    assert (result["ruleId"], result["level"], result["kind"]) == ("empty-site", "error", "fail")
    assert result["ruleId"] in {rule["id"] for rule in log["tool"]["driver"]["rules"]}
    suite = ElementTree.fromstring(shell.run("site", "check", empty, "--junit").stdout)
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert (failed, suite.get("failures"), suite.get("errors")) == (["empty-site"], "1", "0")
    assert int(suite.get("tests", 0)) == len(suite)


def test_a_site_is_shown_with_what_its_plan_limits(shell: Shell, service: RunningService) -> None:
    site = "Inside Tallowick"
    before = shell.ok("site", "show", site)
    assert "plan" not in before and "appliedType: basic" in before
    limit_site(service, shell.json("site", "show", site)["id"], "ultimate", "premium")
    *fields, chosen, frozen = shell.ok("site", "show", site).splitlines()
    assert (chosen, frozen) == (
        "Type: ultimate was chosen, but the plan applies premium",
        "Frozen by the plan: sections, adaptive content, visitor sign-in (from ultimate on)",
    )
    assert not [line for line in fields if line.startswith("features")]
    features = shell.json("site", "show", site)["features"]
    assert {one["id"] for one in features if not one["frozen"]} >= {"sites-custom-fonts", "sites-redirects"}


@pytest.mark.slow
def test_reports_of_a_site_name_its_outdated_change_requests(shell: Shell) -> None:
    site, name = "Tallowick Docs", "outdated-requests"
    ahead = begun(shell)
    shell.ok("cr", "edit", ahead, "--status", "open")
    shell.ok("cr", "edit", ahead, "--page", "install", "--body", "# Install\n\nIn a minute.")
    shell.ok("cr", "merge", ahead, "--yes")
    found = {one["changeRequest"]: one for one in shell.json("site", "check", site) if one["kind"] == name}
    spaces = {one["space"] for one in found.values()}
    listed = [one for space in spaces for one in shell.json("cr", "list", "--space", space)]
    assert {one["id"] for one in listed if one["outdated"]} == set(found) != set()
    for one in listed:
        if one["id"] in found:
            assert found[one["id"]]["where"].endswith(f": #{one['number']} {one['subject']}")
    log = json.loads(shell.ok("site", "check", site, "--sarif"))["runs"][0]
    logged = [one for one in log["results"] if one["ruleId"] == name]
    assert {one["properties"]["changeRequest"] for one in logged} == set(found)
    assert {one["level"] for one in logged} == {"note"}
    suite = ElementTree.fromstring(shell.ok("site", "check", site, "--junit"))
    case = next(case for case in suite if case.get("name") == name)
    assert case.find("failure") is None
    assert (case.findtext("system-out") or "").count("is outdated") == len(found)


@pytest.mark.slow
def test_the_program_as_a_process(shell: Shell) -> None:
    ran = shell.program("collection", "list", "--json")
    assert ran.returncode == 0, ran.stderr
    assert {one["title"] for one in json.loads(ran.stdout)} >= {"Product", "Internal"}
    assert shell.program("cr", "show").returncode == 2
    refused = shell.run("cr", "comment", "api#4")
    assert (refused.exit_code, "--body" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_text_from_the_editor_is_kept_if_the_command_fails(
    shell: Shell, tmp_path: Path, service: RunningService
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho \'Typed at length\' > "$1"; test -z "$PRESSCHECK_TOKEN"\n')
    editor.chmod(0o755)
    shell.env["EDITOR"] = str(editor)
    program = [sys.executable, "-m", "presscheck"]
    words = ["cr", "comment", "api#4"]
    printed, code = pexpect.run(shlex.join([*program, *words]), env=shell.environment, timeout=30, withexitstatus=True)
    assert code == 0, printed
    said = [one["body"]["markdown"].strip() for one in shell.json("cr", "show", "api#4")["comments"]]
    assert "Typed at length" in said
    assert not list((shell.home / "state" / "typed").iterdir())
    printed, code = pexpect.run(
        shlex.join([*program, "cr", "reply", "api#4", "no-such-comment"]),
        env=shell.environment,
        timeout=30,
        withexitstatus=True,
    )
    assert code == 2
    [kept] = (shell.home / "state" / "typed").iterdir()
    assert kept.read_text() == "Typed at length\n"
    assert str(kept).encode() in printed.replace(b"\r\n", b"")


@pytest.mark.slow
def test_edits_of_others_while_the_editor_is_open_are_merged_or_conflict(shell: Shell, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    edit = ("cr", "edit", "guides#3", "--page", "quickstart")
    editor.write_text("""#!/bin/sh
touch begun
while test ! -e saved; do sleep 0.02; done
sed -i "$CHANGE" "$1"
""")
    editor.chmod(0o755)
    printed = b""
    for change, code, text in (
        ("s/Two/Due/", 0, "Uno.\n\nDue."),
        ("s/One/Eins/", 6, "Uno.\n\nTwo."),
    ):
        shell.ok(*edit, "--body", "# Quickstart\n\nOne.\n\nTwo.\n")
        folder = tmp_path / str(code)
        folder.mkdir()
        child = pexpect.spawn(
            sys.executable,
            ["-m", "presscheck", *edit],
            env=shell.environment | {"CHANGE": change, "EDITOR": str(editor)},
            cwd=str(folder),
            timeout=60,
        )
        until = time.monotonic() + 60
        while not (folder / "begun").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        other = Shell(tmp_path / "other", shell.env)
        other.ok(*edit, "--body-file", "-", typed="# Quickstart\n\nUno.\n\nTwo.\n")
        (folder / "saved").touch()
        child.expect(pexpect.EOF)
        printed = child.before
        child.close()
        assert child.exitstatus == code, printed
        shown = shell.ok("cr", "diff", "guides#3", "--format", "json")
        assert text in json.dumps(json.loads(shown), ensure_ascii=False).replace("\\n", "\n"), shown
    assert b"another user changed the same text" in printed
    [kept] = (shell.home / "state" / "typed").iterdir()
    assert "Eins." in kept.read_text()


def test_every_operation_has_a_command(shell: Shell) -> None:
    assert len(operations()) == 294
    listed = shell.json("api")
    assert [one["name"] for one in listed] == list(operations())
    for name, operation in operations().items():
        said = shell.ok("api", name, "--help")
        assert operation.route.split("{")[0] in said.replace("\n", " ")
        for field in operation.model_fields:
            assert f"--{field.replace('_', '-')}" in said, name


def test_api_sends_an_operation(shell: Shell) -> None:
    assert shell.json("api", "get-space", "--space-id", "cli")["title"] == "Command line"
    for name in ("spaces.GetSpace", "GetSpace", "getSpaceById"):
        assert shell.json("api", name, "--space-id", "cli")["id"] == "cli"
    assert shell.run("api", "getSpaceByNobody").exit_code == 2
    everything = shell.json("api", "list-members", "--organization-id", "tallowick", "--limit", "2", "--all")
    assert len(everything) == 8
    ran = shell.run("api", "update-space", "--space-id", "cli", "--title", "x" * 51)
    assert (ran.exit_code, "title: must have at most 50" in ran.stderr) == (2, True)
    assert "--title" in shell.ok("api", "update-space", "--help")
    assert "Title (at most 50 characters)." in " ".join(shell.ok("api", "update-space", "--help").split())
    assert shell.run("api", "get-space").exit_code == 2
    assert shell.run("api", "no-such-call").exit_code == 2


def test_dry_run_prints_the_request(shell: Shell, service: RunningService) -> None:
    words = ["api", "post-comment", "--space-id", "cli", "--change-request-id", "2", "--body", "Hi", "--null", "page"]
    first, _, body = shell.ok(*words, "--dry-run").partition("\n")
    assert first == f"POST {service.base_url}/v1/spaces/cli/change-requests/2/comments"
    assert json.loads(body) == {"body": {"markdown": "Hi"}, "page": None}
    before = len(shell.json("cr", "show", "cli#2")["comments"])
    shell.ok(*words, "--dry-run")
    assert len(shell.json("cr", "show", "cli#2")["comments"]) == before
    query = shell.ok(
        "api", "list-sites", "--organization-id", "a/b", "--type", "basic", "--type", "premium", "--dry-run"
    )
    assert query == f"GET {service.base_url}/v1/orgs/a%2Fb/sites?type=basic&type=premium\n"


@pytest.mark.slow
def test_a_write_is_left_to_the_process_that_sends_the_outbox(
    shell: Shell, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.ok("cr", "show", "api#4")
    [file] = (shell.home / "state").glob("*.sqlite")
    other = Outbox(file)
    assert other.may_send()
    monkeypatch.setattr(session, "OTHER_PROCESS_TIMEOUT", 0.2)
    ran = shell.run("cr", "comment", "api#4", "--body", "For the other window")
    other.close()
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "Another presscheck process is sending: queued in the outbox as number 1" in ran.stderr
    shell.ok("outbox", "send")
    assert "For the other window" in shell.ok("cr", "show", "api#4")


COMPLETIONS = """
import json, os, sys
from presscheck.__main__ import main
for number, variables in enumerate(json.loads(sys.argv[1])):
    print("END\\n" if number else "", end="", flush=True)
    os.environ.update(variables)
    sys.argv = ["presscheck"]
    try:
        main()
    except SystemExit:
        pass
"""
"""Offers completions as shells ask for them, one after the other; reads `sys.argv` before it is replaced."""


@pytest.mark.slow
def test_doctor_log_and_completion(shell: Shell) -> None:
    found = shell.json("doctor")
    assert found["service"]["reached"] is True
    assert set(found["extras"].items()) == {(name, "installed") for name in EXTRAS}
    assert found["stores"] == {"pending": 0, "failed": 0, "notices": []}
    assert shell.env["PRESSCHECK_TOKEN"] not in json.dumps(found)
    shell.env["PRESSCHECK_BASE_URL"] = "http://127.0.0.1:9"
    ill = shell.run("doctor")
    assert (ill.exit_code, "problems: service" in ill.stderr) == (6, True)
    (shell.home / "state" / "presscheck.log").write_text("one\ntwo\nthree\n")
    assert shell.ok("log", "--lines", "2") == "two\nthree\n"
    for name in SHELLS:
        assert "_PRESSCHECK_COMPLETE" in shell.ok("completion", name)
    cases = [
        {"_PRESSCHECK_COMPLETE": "bash_complete", "COMP_WORDS": "presscheck cr re", "COMP_CWORD": "2"},
        {"_PRESSCHECK_COMPLETE": "powershell_complete", "COMP_WORDS": "presscheck\ncr", "COMP_CWORD": "reply"},
        {"_PRESSCHECK_COMPLETE": "powershell_complete", "COMP_WORDS": "presscheck\ncheck", "COMP_CWORD": ""},
    ]
    program = [sys.executable, "-c", COMPLETIONS, json.dumps(cases)]
    ran = subprocess.run(program, env=shell.environment, capture_output=True, text=True, check=True, timeout=60)
    commands, reply, files = ran.stdout.split("END\n")
    offered = commands.split()
    assert {f"plain,{name}" for name in ("reply", "resolve", "revert", "review", "reviewers")} <= set(offered)
    assert all(line.startswith("plain,re") for line in offered)
    assert reply == "plain\treply\tReply to a comment.\n"
    assert files.startswith(("file\t", "dir\t"))
