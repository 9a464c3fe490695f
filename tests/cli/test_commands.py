"""Commands against the real service: output, effects and errors."""

import json
import re
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
from click.testing import CliRunner
from tests.cli.shell import Shell
from tests.running_service import RunningService
from tests.service_plans import limit_site

from presscheck.cli import session
from presscheck.cli.completion import SHELLS
from presscheck.cli.main import command
from presscheck.cli.operations.api_commands import operations
from presscheck.cli.space.commands import space
from presscheck.extras import EXTRAS
from presscheck.store.outbox import Outbox


def test_lazy_parts_list_the_commands_that_their_functions_add() -> None:
    assert space.lazy_parts
    for (module, function), names in space.lazy_parts.items():
        group = click.Group()
        getattr(import_module(f"presscheck.cli.{module}"), function)(group)
        assert sorted(names) == sorted(group.commands)


def begun(shell: Shell, space: str = "cli") -> str:
    return shell.ok("cr", "create", space, "--subject", "From a shell").strip()


@pytest.mark.slow
def test_a_change_request_from_create_to_revert(shell: Shell, tmp_path: Path) -> None:
    which = begun(shell)
    shell.ok("cr", "edit", which, "--status", "open", "--subject", "From a script")
    shell.ok("cr", "edit", which, "--page", "install", "--body", "# Install\n\nWith one hand.")
    assert "With one hand" in shell.ok("space", "page", "cli", "install", "--cr", which)
    [changed] = shell.json("cr", "diff", which)
    assert changed["type"] == "page_edited"
    assert ["With one hand" in changed[side] for side in ("before", "after")] == [False, True]
    assert shell.ok("cr", "diff", which, "--stat").count("\n") == 1
    assert re.search(r"│ \+ With one hand\.", shell.ok("cr", "diff", which, "--format", "split"))
    assert "# Install" in shell.ok("cr", "diff", which, "--format", "source")
    folded = [shell.ok("cr", "diff", "api#5", "-U", number).count("\n") for number in ("0", "99")]
    assert folded[0] < folded[1]
    (tmp_path / "comment.md").write_text("One, *of it*")
    comment = shell.ok("cr", "comment", which, "-F", str(tmp_path / "comment.md")).strip()
    shell.ok("cr", "reply", which, comment, "--body", "Two")
    shell.ok("cr", "resolve", which, comment)
    shell.ok("cr", "resolve", which, comment, "--undo")
    shell.ok("cr", "reviewers", which, "--add", "Ada Moreau", "--add", "kenji")
    shell.ok("cr", "reviewers", which, "--remove", "kenji")
    shown = shell.json("cr", "show", which)
    [said] = shown["comments"]
    assert (said["body"]["markdown"].strip(), said["status"], said["replies"]) == ("One, *of it*", "open", 1)
    assert [one["user"]["id"] for one in shell.json("cr", "reviewers", which)] == ["ada"]
    assert shell.run("cr", "merge", which).exit_code == 2, "without a terminal it must be said"
    assert shell.json("cr", "merge", which, "--yes")["result"] == "merge"
    assert "With one hand" in shell.ok("space", "page", "cli", "install")
    again = shell.run("cr", "merge", which, "--yes")
    assert (again.exit_code, "merged" in again.stderr) == (5, True)
    ran = shell.run("cr", "revert", which)
    assert re.fullmatch(rf"#\d+ undoes #{which.partition('#')[2]}\.\n", ran.stderr)
    [reverted] = shell.json("cr", "diff", ran.stdout.strip())
    assert ["With one hand" in reverted[side] for side in ("before", "after")] == [True, False]


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
def test_sites(shell: Shell) -> None:
    docs, inside = "Tallowick Docs", "Inside Tallowick"
    shell.ok("site", "move", docs, "News", "--before", "0000000004hbe47addbc")
    assert shell.ok("site", "structure", docs).startswith("News")
    address = shell.ok("site", "publish", inside, "--yes").strip()
    assert shell.ok("site", "open", inside).strip() == address
    shell.ok("site", "unpublish", inside, "--yes")
    assert shell.run("site", "open", inside).exit_code == 6
    assert httpx.get(shell.ok("site", "preview", inside).strip()).status_code == 200, "before it is published"
    with_request = shell.json("site", "preview", docs, "--cr", "API docs#5")["url"]
    assert "Preview of change request #5" in httpx.get(with_request).text
    refused = shell.run("site", "preview", inside, "--cr", "API docs#5")
    assert refused.exit_code == 2 and "it does not have the space of #5" in refused.stderr
    empty = shell.ok("site", "create", "--title", "Nothing in it").strip()
    assert shell.run("site", "publish", empty, "--yes", "--if-clean").exit_code == 6
    assert not shell.json("site", "show", empty)["published"]
    ran = shell.run("site", "check", empty, "--sarif")
    log = json.loads(ran.stdout)
    schema = json.loads((Path(__file__).parent / "sarif" / "sarif-schema-2.1.0.json").read_text())
    jsonschema.validate(log, schema)
    [result] = [one for one in log["runs"][0]["results"] if one["kind"] == "fail"]
    assert (ran.exit_code, result["ruleId"], result["level"]) == (6, "empty-site", "error")
    suite = ElementTree.fromstring(shell.run("site", "check", empty, "--junit").stdout)
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["empty-site"]


def test_site_show_names_the_limits_of_the_plan(shell: Shell, service: RunningService) -> None:
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
def test_edits_of_others_while_the_editor_is_open_are_a_conflict(shell: Shell, tmp_path: Path) -> None:
    editor, edit = tmp_path / "editor", ("cr", "edit", "guides#3", "--page", "quickstart")
    editor.write_text("""#!/bin/sh
echo "$PRESSCHECK_TOKEN" > begun
while test ! -e saved; do sleep 0.02; done
sed -i "s/One/Eins/" "$1"
""")
    editor.chmod(0o755)
    shell.ok(*edit, "--body", "# Quickstart\n\nOne.\n\nTwo.\n")
    env = shell.environment | {"EDITOR": str(editor)}
    child = pexpect.spawn(
        sys.executable, ["-m", "presscheck", *edit], env=env, cwd=str(tmp_path), timeout=60, encoding="utf-8"
    )
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    Shell(tmp_path / "other", shell.env).ok(*edit, "--body-file", "-", typed="# Quickstart\n\nUno.\n\nTwo.\n")
    (tmp_path / "saved").touch()
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, "another user changed the same text" in child.before) == (6, True), child.before
    assert "Uno." in shell.ok("space", "page", "guides", "quickstart", "--cr", "guides#3")
    assert (tmp_path / "begun").read_text() == "\n", "the editor does not get the token"
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
def test_write_is_queued_while_another_process_sends_the_outbox(
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


def test_doctor_reports_an_unreachable_service(shell: Shell) -> None:
    shell.env["PRESSCHECK_BASE_URL"] = "http://127.0.0.1:9"
    ill = shell.run("doctor", "--json")
    found = json.loads(ill.stdout)
    assert (ill.exit_code, "error" in found["service"]) == (6, True)
    assert "problems: service" in ill.stderr
    assert set(found["extras"].items()) == {(name, "installed") for name in EXTRAS}
    assert not found["keyring"]["available"] and found["keyring"]["reason"]
    assert found["stores"] == {"pending": 0, "failed": 0, "notices": []}
    assert shell.env["PRESSCHECK_TOKEN"] not in ill.output
    (shell.home / "state" / "presscheck.log").write_text("one\ntwo\nthree\n")
    assert shell.ok("log", "--lines", "2") == "two\nthree\n"


def test_completions(shell: Shell) -> None:
    def offered(kind: str, words: str, current: str) -> list[str]:
        env = {"_PRESSCHECK_COMPLETE": f"{kind}_complete", "COMP_WORDS": words, "COMP_CWORD": current}
        return CliRunner().invoke(command, [], prog_name="presscheck", env=env).stdout.splitlines()

    for name in SHELLS:
        assert "_PRESSCHECK_COMPLETE" in shell.ok("completion", name)
    found = offered("bash", "presscheck cr re", "2")
    assert {f"plain,{name}" for name in ("reply", "resolve", "revert", "review", "reviewers")} <= {*found}
    assert all(line.startswith("plain,re") for line in found)
    assert offered("powershell", "presscheck\ncr", "reply") == ["plain\treply\tReply to a comment."]
    assert offered("powershell", "presscheck\ncheck", "")[0].startswith(("file\t", "dir\t"))


@pytest.mark.parametrize(("typed", "inserted"), [("St", "Stale\\ API"), ("'\"St'", "Stale API")])
def test_bash_completion_quotes_values(shell: Shell, tmp_path: Path, typed: str, inserted: str) -> None:
    program = tmp_path / "presscheck"
    program.write_text("#!/bin/sh\necho 'plain,Stale API'\n")
    program.chmod(0o700)
    completes = f"COMP_WORDS=(presscheck inbox --view {typed}) COMP_CWORD=3; _presscheck_completion {program}"
    script = f"{shell.ok('completion', 'bash')}\n{completes}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout == f"{inserted}\n"


def test_profiles_are_completed(shell: Shell) -> None:
    shell.config.write_text("[profiles.work]\n[profiles.home]\n")
    for words in ("presscheck --profile w", "presscheck inbox --profile w"):
        shell.env |= {"_PRESSCHECK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        assert shell.program().stdout == "plain,work\n"
