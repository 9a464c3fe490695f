"""The command line on a service that has only the operations of the published API document."""

from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService

pytestmark = pytest.mark.service(release="document")

NO_USER = "This service does not tell who you are: set `user` in the settings"


def test_whoami(shell: Shell) -> None:
    ran = shell.run("whoami", "--json")
    assert ran.exit_code == 0
    assert NO_USER in ran.stderr
    assert shell.json("whoami")["id"] is None
    shell.config.write_text('[profiles.default]\nuser = "mia@tallowick.example"\n')
    assert shell.json("whoami")["displayName"] == "Mia Okonkwo"
    shell.env["PRESSCHECK_TOKEN"] = "wrong"
    assert shell.run("whoami").exit_code == 4, "a wrong token is noticed all the same"


def test_login_without_a_user(service: RunningService, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    ran = shell.run("login", "--base-url", service.base_url, typed=service.token)
    assert ran.exit_code == 0, ran.stderr
    assert f"Signed in to {service.base_url}; the token is in" in ran.stderr
    assert "set `user` in profiles.default" in ran.stderr
    assert shell.run("login", "--profile", "other", "--base-url", service.base_url, typed="wrong").exit_code == 4


def test_inbox_shows_the_change_requests_of_all_users(shell: Shell) -> None:
    ran = shell.run("inbox")
    assert f"{NO_USER}. Shown are the change requests of everyone." in ran.stderr
    assert "Needs me 10  Mine 10  Involved 10  All open 10" in ran.stdout


def test_events_need_a_user(shell: Shell) -> None:
    ran = shell.run("inbox", "--watch")
    assert (ran.exit_code, NO_USER in ran.stderr) == (7, True)


def test_diff_names_its_base(shell: Shell) -> None:
    ran = shell.run("cr", "diff", "guides#3")
    assert ran.exit_code == 0
    assert "This service has no list of changes: compared with #1, which was merged before." in ran.stderr
    assert "page edited: quickstart  +0 −1 words" in ran.stdout
    ran = shell.run("cr", "diff", "api#5", "--stat")
    assert "all pages, not compared" in ran.stderr
    assert "page listed: authentication" in ran.stdout


def test_missing_operation_has_its_own_exit_code(shell: Shell) -> None:
    for words, feature in (
        (("space", "create", "--title", "New"), "creation of spaces"),
        (("cr", "review", "guides#3", "--approve"), "reviews"),
        (("api", "list-redirects", "--organization-id", "tallowick", "--site-id", "none"), ""),
    ):
        ran = shell.run(*words)
        if feature:
            assert (ran.exit_code, f"This service has no {feature}" in ran.stderr) == (7, True), ran.stderr
        else:
            assert ran.exit_code == 1, "the site is missing, whether or not the service has redirects"
