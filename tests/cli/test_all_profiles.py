"""`inbox --all-profiles`: the inboxes of several profiles, each read with its own service, token and files."""

import json
from pathlib import Path

import pytest
from tests.cli.hostile_service import HostileService
from tests.cli.shell import Shell
from tests.profiles import write_settings
from tests.running_service import RunningService


def test_each_profile_is_read_from_its_own_service(service: RunningService, tmp_path: Path) -> None:
    shell, token = Shell(tmp_path), tmp_path / "other-token"
    token.write_text("other")
    token.chmod(0o600)
    with HostileService("well-formed").running() as other:
        table = f'base_url = "{other.base_url}"\ntoken_file = "{token}"'
        write_settings(tmp_path, ("client", "work"), client=table, work=service, unused=service)
        client, work = shell.json("inbox", "--all-profiles", "--limit", "2")
    assert (client["profile"], work["profile"]) == ("client", "work")
    assert [row["id"] for row in client["changeRequests"]] == ["x"]
    assert len(work["changeRequests"]) == 2
    assert work["changeRequests"][0]["urls"]["app"].startswith(service.base_url)


def test_failed_profiles_are_named_and_the_others_are_printed(service: RunningService, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    table = f'base_url = "{service.base_url}"\n'
    refused = tmp_path / "refused-token"
    refused.write_text("gb_api_wrong")
    refused.chmod(0o600)
    write_settings(
        tmp_path,
        work=service,
        bare=table,
        broken=f'{table}token_command = "false"',
        gone='base_url = "http://127.0.0.1:9"\ntoken_file = "' + str(refused) + '"',
        refused=f'{table}token_file = "{refused}"',
        wrong="theme = 3",
    )
    shell.env["PRESSCHECK_PROFILE"] = "work"
    ran = shell.run("inbox", "--all-profiles", "--json")
    assert [inbox["profile"] for inbox in json.loads(ran.stdout)] == ["work"]
    reasons = dict(line.split(": ", 1) for line in ran.stderr.splitlines())
    assert set(reasons) == {"bare", "broken", "gone", "refused", "wrong"}, ran.stderr
    assert reasons["bare"] == f"no token for {service.base_url}: run `presscheck login --profile bare`"
    assert "token_command" in reasons["broken"]
    assert "127.0.0.1:9" in reasons["gone"]
    assert "token" in reasons["refused"]
    assert "theme must be a quoted string" in reasons["wrong"]
    assert "gb_api_wrong" not in ran.stdout + ran.stderr
    assert ran.exit_code == 4, "of the first that failed: no token"


def test_token_in_the_environment_is_used_only_for_the_first_profile(service: RunningService, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"PRESSCHECK_TOKEN": service.token, "PRESSCHECK_BASE_URL": service.base_url})
    write_settings(tmp_path, other=f'base_url = "{service.base_url}"')
    ran = shell.run("inbox", "--all-profiles", "--json")
    assert [inbox["profile"] for inbox in json.loads(ran.stdout)] == ["default"]
    assert ran.stderr.startswith("other: no token for")


@pytest.mark.parametrize("option", [("--watch",), ("--since", "2d"), ("--format", "markdown"), ("--interval", "5")])
def test_options_for_a_single_profile_are_rejected(tmp_path: Path, option: tuple[str, ...]) -> None:
    ran = Shell(tmp_path).run("inbox", "--all-profiles", *option)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"--all-profiles: cannot be used with {option[0]}" in ran.stderr


def test_invalid_list_of_profiles_is_an_error_with_line(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.config.write_text('inbox_profiles = ["gone"]\n')
    ran = shell.run("inbox", "--all-profiles")
    assert ran.exit_code == 2
    assert f"{shell.config}:1: inbox_profiles has no profile [profiles.gone]" in ran.stderr
