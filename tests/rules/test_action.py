"""Runs the steps of the GitHub action and the hook for pre-commit."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.root import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]


def run_step(step: dict[str, Any], values: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub's runner does: as a Bash script, with the expressions in its variables replaced."""
    env = dict(os.environ)
    for name, text in step["env"].items():
        for expression, value in values.items():
            text = text.replace(f"${{{{ {expression} }}}}", value)
        assert "${{" not in text
        env[name] = text
    assert "${{" not in step["run"], "an input in a script could run as a command"
    script = directory / "step.sh"
    script.write_text(step["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=100)


@pytest.fixture
def values(tmp_path: Path) -> dict[str, str]:
    """Return the values of expressions; `runner.temp` is a folder with an installed presscheck."""
    programs = tmp_path / "presscheck" / "bin"
    programs.mkdir(parents=True)
    (programs / "presscheck").symlink_to(Path(sys.executable).with_name("presscheck"))
    inputs = {f"inputs.{name}": declaration["default"] for name, declaration in ACTION["inputs"].items()}
    return {"runner.temp": str(tmp_path), "github.action_path": str(ROOT), **inputs}


def test_check_step_annotates_errors_and_fails(tmp_path: Path, values: dict[str, str]) -> None:
    (tmp_path / "docs folder").mkdir()
    (tmp_path / "docs folder" / "README.md").write_text("# A\n\n[gone](gone.md) ![](https://example.org/a.png)\n")
    result = run_step(
        CHECK, values | {"inputs.folder": "docs folder", "inputs.options": "--rule broken-link"}, tmp_path
    )
    assert (
        result.stdout
        == "::error file=docs folder/README.md,line=3,col=8,title=broken-link::gone.md: target not found\n"
    )
    assert result.returncode == 6
    assert run_step(CHECK, values, tmp_path).returncode == 6, "the default folder is the root of the repository"


def test_inputs_are_not_run_as_commands_or_options(tmp_path: Path, values: dict[str, str]) -> None:
    hostile = values | {"inputs.folder": "--fix", "inputs.changed-since": "--output=out $(touch made)"}
    result = run_step(CHECK, hostile | {"inputs.options": "$(touch made) `touch made`"}, tmp_path)
    assert result.returncode == 2
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "out").exists()


def test_install_step_installs_the_source_into_its_own_environment(tmp_path: Path, values: dict[str, str]) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    # the real `pip` would load packages from the network
    fake = """#!/bin/sh
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@"\\n' > "$3/bin/pip"
chmod +x "$3/bin/pip"
"""
    (programs / "python3").write_text(fake)
    (programs / "python3").chmod(0o755)
    step = {**INSTALL, "env": {**INSTALL["env"], "PATH": f"{programs}:{os.environ['PATH']}"}}
    values["runner.temp"] = str(tmp_path / "new place")
    assert run_step(step, values, tmp_path).stdout == f"install --quiet {ROOT}\n"


def test_pre_commit_hook_reports_broken_links(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert (hook["id"], hook["language"], hook["pass_filenames"]) == ("presscheck", "python", False)
    (tmp_path / "README.md").write_text("# A\n\n[gone](gone.md)\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    result = subprocess.run(
        [*shlex.split(hook["entry"]), "."],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert result.returncode == 6
    assert "README.md:3:8: error" in result.stdout
