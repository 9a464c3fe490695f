"""`presscheck login`, `logout` and `profiles`: where a token is stored and sent, and that it is never printed."""

import json
import sys
from pathlib import Path

import pexpect
import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService
from tests.secret_service import SecretService

from presscheck.config.secret_store import read_secret


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "home")


def everything_below(home: Path) -> str:
    return "".join(file.read_text(errors="replace") for file in home.rglob("*") if file.is_file())


@pytest.mark.slow
def test_login_stores_the_token_in_the_keyring_and_logout_deletes_it(
    shell: Shell, service: RunningService, keyring: SecretService
) -> None:
    words = ["-m", "presscheck", "login", "--base-url", service.base_url]
    child = pexpect.spawn(sys.executable, words, env=shell.environment, encoding="utf-8", timeout=30)
    child.expect("Token for")
    child.waitnoecho()
    child.sendline(service.token)
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, "the system keyring" in child.before) == (0, True)
    [item] = keyring.items()
    assert read_secret(item["service"], item["username"]) == service.token
    assert service.token not in child.before + everything_below(shell.home)
    found = json.loads(shell.program("whoami", "--json").stdout)
    assert (found["displayName"], found["tokenFrom"]) == ("Robin Achterberg", "the system keyring")
    assert shell.program("logout").returncode == 0
    assert keyring.items() == []
    assert json.loads(shell.run("doctor", "--json").stdout)["keyring"] == {"available": True}


def test_a_stored_token_is_not_sent_to_another_url(shell: Shell, service: RunningService) -> None:
    shell.ok("login", "--base-url", service.base_url, typed=service.token + "\n")
    shell.env["PRESSCHECK_BASE_URL"] = "http://127.0.0.1:9"
    assert shell.run("whoami").exit_code == 4


def test_an_invalid_token_is_not_stored(shell: Shell, service: RunningService) -> None:
    ran = shell.run("login", "--base-url", service.base_url, typed="wrong-token\n")
    assert ran.exit_code == 4
    assert not (shell.home / "config").exists()
    assert "wrong-token" not in ran.output


def test_login_adds_a_profile_and_preserves_the_file(shell: Shell, service: RunningService) -> None:
    shell.config.write_text("# mine\n[profiles.default]\ntheme = 'paper'  # at night\n")
    shell.ok("--profile", "local", "login", "--base-url", service.base_url, typed=service.token + "\n")
    text = shell.config.read_text()
    assert text.startswith("# mine\n[profiles.default]\ntheme = 'paper'  # at night\n")
    rows = {row["name"]: row for row in shell.json("profiles", "--profile", "local")}
    assert rows["local"] == {
        "name": "local",
        "inUse": True,
        "baseUrl": service.base_url,
        "token": "login",
        "readOnly": False,
    }
    assert (rows["default"]["inUse"], rows["default"]["token"]) == (False, None)
    assert shell.json("whoami", "--profile", "local")["profile"] == "local"


def test_login_is_rejected_if_the_environment_sets_a_token(shell: Shell, service: RunningService) -> None:
    shell.env["PRESSCHECK_TOKEN"] = service.token
    ran = shell.run("login", "--base-url", service.base_url, typed="x\n")
    assert (ran.exit_code, "PRESSCHECK_TOKEN" in ran.stderr) == (2, True)


def test_token_command_provides_the_token(shell: Shell, service: RunningService, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(service.token + "\n")
    shell.config.write_text(
        f'[profiles.default]\nbase_url = "{service.base_url}"\ntoken_command = "cat \'{tmp_path}/secret\'"\n'
    )
    assert shell.json("whoami")["tokenFrom"] == "token_command"
    (tmp_path / "secret").unlink()
    ran = shell.program("whoami")
    assert (ran.returncode, "token_command: it exited with 1" in ran.stderr) == (2, True)


def test_token_file_that_other_users_can_read_is_rejected(
    shell: Shell, service: RunningService, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(service.token)
    file.chmod(0o644)
    shell.config.write_text(f'[profiles.default]\nbase_url = "{service.base_url}"\ntoken_file = "{file}"\n')
    ran = shell.run("whoami")
    assert (ran.exit_code, "other users can read the file; run `chmod 600" in ran.stderr) == (2, True)
    file.chmod(0o600)
    assert shell.run("whoami").stderr == ""


def test_login_refuses_plain_http(shell: Shell) -> None:
    ran = shell.run("login", "--base-url", "http://docs.example", typed="secret-token\n")
    assert (ran.exit_code, "allow_http" in ran.stderr) == (2, True)


def test_the_tour_needs_a_terminal(shell: Shell) -> None:
    ran = shell.run("tour")
    assert (ran.exit_code, "needs a terminal" in ran.stderr) == (2, True)
