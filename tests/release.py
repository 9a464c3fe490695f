"""Build a release and check it: `python -m tests.release`.

Source distribution and wheel are built twice from a clone of the last commit, and both builds must be identical. The
wheel is installed into an empty environment, where the version, the demo and the tests of the command line must work.
It is also run with pipx and installed with uv, and pre-commit runs the hook.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks.first_demo import installer, seconds_to_inbox
from tests.root import ROOT

from presscheck import __version__

DIST = ROOT / "dist"
PINS = f"--constraint={ROOT / 'constraints.txt'}"
VERSION = f"presscheck {__version__}\n"
LIGHT = 90
"""Maximum size in megabytes of an installation of `presscheck` without extras, without pip."""


def run(*command: str | Path, folder: Path = ROOT, **environment: str) -> str:
    """Run a command and return its output; exit with the output if it fails."""
    result = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def clone(folder: Path) -> Path:
    """Clone the last commit into a new folder."""
    run("git", "clone", "--quiet", ROOT, folder)
    return folder


def build(target: Path) -> dict[str, str]:
    """Build both distributions from a clone. Returns their SHA-256 digests by file name."""
    with tempfile.TemporaryDirectory() as folder:
        source = clone(Path(folder) / "presscheck")
        moment = run("git", "log", "-1", "--format=%ct").strip()
        run(sys.executable, "-m", "build", "--outdir", target, source, SOURCE_DATE_EPOCH=moment)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.iterdir())}


def size(packages: Path) -> float:
    """Return the size of a folder on disk in megabytes."""
    return int(run("du", "-sk", packages).split()[0]) / 1024


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel without extras, with `serve` and with `dev`, and use each installation.

    Raises:
        SystemExit: something failed, or the wheel alone takes more than `LIGHT` megabytes.
    """
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    python, presscheck = environment / "bin" / "python", environment / "bin" / "presscheck"
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PINS)

    packages = next((environment / "lib").glob("python*/site-packages"))
    empty = size(packages)
    run(*install, wheel)
    light = size(packages) - empty
    if light > LIGHT:
        raise SystemExit(f"presscheck alone takes {light:.1f} MB; at most {LIGHT}")
    say(f"presscheck alone: {light:.1f} MB")
    if run(presscheck, "--version") != VERSION:
        raise SystemExit("the wheel has another version")
    run(presscheck, "--help")
    if not (environment / "share" / "man" / "man1" / "presscheck.1").exists():
        raise SystemExit("the wheel has no man page")

    run(*install, f"{wheel}[serve]")
    say(f"demo: {seconds_to_inbox([str(presscheck), 'demo'], folder / 'home'):.1f} s to the inbox")

    run(*install, f"{wheel}[dev]")
    checkout = clone(folder / "checkout")
    shutil.rmtree(checkout / "src")  # the tests must import the wheel
    tests = ("-n", "auto", "--dist", "worksteal", "-m", "not slow", "tests/cli")
    # these tests need the program in src
    light_install = "--ignore=tests/cli/test_light_install.py"
    output = run(python, "-m", "pytest", *tests, light_install, "--verbosity=0", folder=checkout)
    say(f"tests of the command line: {output.splitlines()[-1].strip('= ')}")


def try_pipx(wheel: Path, folder: Path) -> None:
    """Run the version and the demo of the wheel with pipx, if pipx is available."""
    pipx = installer("pipx", folder / "pipx")
    if pipx is None:
        say("pipx run: not tried, because pipx is neither on PATH nor can it be installed")
        return
    own = {"PIPX_HOME": str(folder / "environments"), "PIPX_DEFAULT_PYTHON": sys.executable}
    own["PIPX_DEFAULT_BACKEND"] = "pip"  # uv ignores the constraints
    command = [pipx, "run", f"--pip-args={shlex.quote(PINS)}", "--spec", f"{wheel}[serve]", "presscheck"]
    if run(*command, "--version", **own) != VERSION:
        raise SystemExit("pipx runs another version")
    say(f"pipx run: {seconds_to_inbox([*command, 'demo'], folder / 'home of pipx', **own):.1f} s to the inbox")


def try_uv(wheel: Path, folder: Path) -> None:
    """Install the wheel as a tool of uv, if uv is available, and run its version."""
    uv = installer("uv", folder / "uv")
    if uv is None:
        say("uv tool install: not tried, because uv is neither on PATH nor can it be installed")
        return
    own = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "commands")}
    run(uv, "tool", "install", "--quiet", "--constraints", ROOT / "constraints.txt", f"{wheel}[serve]", **own)
    if run(folder / "commands" / "presscheck", "--version") != VERSION:
        raise SystemExit("uv installs another version")
    say("uv tool install: the same version")


def try_pre_commit(folder: Path) -> None:
    """Run the hook of the last commit on a page with a broken link, if pre-commit is available."""
    pre_commit = installer("pre-commit", folder / "pre-commit")
    if pre_commit is None:
        say("pre-commit: not tried, because it is neither on PATH nor can it be installed")
        return
    docs = folder / "docs of pre-commit"
    docs.mkdir()
    (docs / "README.md").write_text("# A\n\n[gone](gone.md)\n")
    run("git", "init", "--quiet", folder=docs)
    run("git", "add", ".", folder=docs)
    command = [pre_commit, "try-repo", ROOT, "presscheck", "--all-files", "--color=never"]
    own = os.environ | {"PRE_COMMIT_HOME": str(folder / "hooks")}
    result = subprocess.run(command, cwd=docs, env=own, capture_output=True, text=True)
    for line in ("- hook id: presscheck\n- exit code: 6\n", "README.md:3:8: error: gone.md: target not found"):
        if line not in result.stdout:
            raise SystemExit(f"pre-commit does not run the hook:\n{result.stdout}{result.stderr}")
    say("pre-commit: runs the hook")


def main() -> None:
    """Build, compare, check, and print the tag."""
    if run("git", "status", "--porcelain").strip():
        raise SystemExit("commit first: a release is built from what is committed")
    with tempfile.TemporaryDirectory(prefix="presscheck-") as name:
        folder = Path(name)
        first, second = folder / "first", folder / "second"
        digests = build(first)
        if digests != build(second):
            raise SystemExit("two builds differ")
        run(sys.executable, "-m", "twine", "check", "--strict", *sorted(first.iterdir()))
        say("two builds with the same bytes; twine finds nothing")
        wheel = next(first.glob("*.whl"))
        try_wheel(wheel, folder)
        try_pipx(wheel, folder)
        try_uv(wheel, folder)
        try_pre_commit(folder)
        DIST.mkdir(exist_ok=True)
        for path in first.iterdir():
            path.replace(DIST / path.name)
    for name, digest in digests.items():
        say(f"{digest}  dist/{name}")
    say(f"Tag it: git tag -a v{__version__} -m 'presscheck {__version__}'")


if __name__ == "__main__":
    main()
