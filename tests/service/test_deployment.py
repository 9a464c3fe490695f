"""The commands of the Dockerfile and of the systemd unit start the service; no container runs here."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.needs import require
from tests.root import ROOT
from tests.running_service import RunningService

DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8"))
UNIT = ROOT / "docs" / "hosting" / "presscheck.service"
MOST_EXPOSED = 2.0
"""Maximum exposure in `systemd-analyze security`: 0 is the least, 10 is a service without any limit."""


def instruction(name: str) -> str:
    """Return the arguments of the last instruction with a name."""
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)[-1]


def test_image_uses_declared_extras_and_python_versions_and_a_normal_user() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [extras] = {*re.findall(r"(?:presscheck|/source)\[([\w,]+)\]", DOCKERFILE)}
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    for version in re.findall(r"FROM python:([\d.]+)", DOCKERFILE):
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    assert instruction("USER") == "10001"
    assert "--uid 10001" in DOCKERFILE


def test_command_of_the_image_is_valid(tmp_path: Path) -> None:
    program, *words = json.loads(instruction("ENTRYPOINT"))
    assert program == "presscheck"
    words = [word.replace("/data", str(tmp_path)) for word in words]
    environment = dict(pair.split("=") for pair in instruction("ENV").replace("/data", str(tmp_path)).split())
    checked = Shell(tmp_path, environment).run(*words, "--port", "0", "--check")
    assert checked.exit_code == 0, checked.output
    assert f"data: {tmp_path}/service (new)\n" in checked.stdout
    assert f"token file: {tmp_path}/token (new)\n" in checked.stdout


def test_the_health_check_of_the_image_fails_without_the_service(tmp_path: Path) -> None:
    _, words = instruction("HEALTHCHECK").split(" CMD ")
    service = RunningService(tmp_path)
    command = [word.replace(":8300/", f":{service.port}/") for word in json.loads(words)]
    command[0] = sys.executable
    service.start()
    try:
        assert subprocess.run(command).returncode == 0
    finally:
        service.stop()
    assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0


def test_image_copies_all_files_that_a_wheel_needs() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, hatch = settings["project"], settings["tool"]["hatch"]
    wheel = hatch["build"]["targets"]["wheel"]
    needed = [project["readme"], *project["license-files"], hatch["version"]["path"], "constraints.txt"]
    needed += [*wheel["packages"], *wheel["force-include"], *wheel["shared-data"]]
    ignored = [line for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line[0] not in ".!*"]
    assert len(needed) > 6
    assert [name for name in needed if name.split("/")[0] in ignored or not (ROOT / name).exists()] == []


def test_unit_restarts_slowly_enough_to_wait_for_a_database() -> None:
    (seconds,) = re.findall(r"^RestartSec=(\d+)$", UNIT.read_text("utf-8"), re.MULTILINE)
    assert int(seconds) * 5 > 10, "after five starts in ten seconds, systemd leaves a unit failed"


@pytest.mark.needs("systemd-analyze")
def test_the_unit_is_valid_and_limits_the_service(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    commands = re.findall(r"^Exec\w+=(\S+) (.*)$", UNIT.read_text("utf-8"), re.MULTILINE)
    assert [words.split()[0] for _, words in commands] == ["serve", "serve"]
    unit.write_text(UNIT.read_text("utf-8").replace("/usr/local/bin/presscheck", "/bin/sh"))
    analyze = str(require("systemd-analyze"))
    found = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    limit = f"--threshold={MOST_EXPOSED * 10:.0f}"
    exposed = subprocess.run([analyze, "security", "--offline=yes", limit, unit], capture_output=True, text=True)
    assert exposed.returncode == 0, exposed.stdout
    for _, words in commands:
        filled = shlex.split(words.replace("%S/presscheck", str(tmp_path)))
        checked = Shell(tmp_path).run(*filled, *({"--check"} - {*filled}), "--port", "0")
        assert checked.exit_code == 0, checked.output
