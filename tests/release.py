"""Build a release and check it: `python -m tests.release`.

Source distribution and wheel are built twice from a clone of the committed state and must have the same bytes. The
wheel is installed into an empty environment, where the version, the command line and the sample workspace must work.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.root import ROOT

from presscheck import __version__

DIST = ROOT / "dist"
LIGHT = 90
"""Megabytes that `presscheck` alone may take, without pip."""


def run(*command: str | Path, folder: Path = ROOT, **environment: str) -> str:
    """Run a command and return what it prints; end with its output if it fails."""
    ran = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def build(target: Path) -> dict[str, str]:
    """Build both distributions from a clone; returns the digest of each by its name."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "presscheck"
        run("git", "clone", "--quiet", ROOT, clone)
        moment = run("git", "log", "-1", "--format=%ct").strip()
        run(sys.executable, "-m", "build", "--outdir", target, clone, SOURCE_DATE_EPOCH=moment)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.iterdir())}


def size(folder: Path) -> float:
    """Megabytes on disk of what is installed, without pip."""
    lines = run("du", "-sm", "--exclude=pip", "--exclude=pip-*", "--exclude=setuptools*", folder).split()
    return float(lines[0])


def try_wheel(wheel: Path, folder: Path) -> float:
    """Install the wheel alone, then with its service, and use both; returns the megabytes of the first."""
    venv.create(folder, with_pip=True)
    python, presscheck = folder / "bin" / "python", folder / "bin" / "presscheck"
    install = (python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt")
    run(*install, wheel)
    light = size(next((folder / "lib").glob("python*/site-packages")))
    if run(presscheck, "--version") != f"presscheck {__version__}\n":
        raise SystemExit("the wheel has another version")
    run(presscheck, "--help")
    run(*install, f"{wheel}[serve]")
    try_service(presscheck, folder / "data", folder / "home")
    return light


def try_service(presscheck: Path, data: Path, home: Path) -> None:
    """Serve the sample workspace and list its spaces with the command line."""
    token = data.with_name("token")
    command = [presscheck, "serve", "--sample", "--port", "0", "--data", data, "--token-file", token]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout
            url = next(word for line in service.stdout for word in line.split() if word.startswith("http://"))
            use = {
                "PRESSCHECK_HOME": str(home),
                "PRESSCHECK_BASE_URL": url,
                "PRESSCHECK_TOKEN": token.read_text().strip(),
            }
            if not json.loads(run(presscheck, "space", "list", "--json", **use)):
                raise SystemExit("the sample workspace has no spaces")
        finally:
            service.terminate()


def main() -> None:
    """Build, compare, check, and print the tag."""
    if run("git", "status", "--porcelain").strip():
        raise SystemExit("commit first: a release is built from what is committed")
    with tempfile.TemporaryDirectory() as folder:
        first, second = (Path(folder) / name for name in ("first", "second"))
        digests = build(first)
        if digests != build(second):
            raise SystemExit("two builds differ")
        run(sys.executable, "-m", "twine", "check", "--strict", *sorted(first.iterdir()))
        light = try_wheel(next(first.glob("*.whl")), Path(folder) / "environment")
        if light > LIGHT:
            raise SystemExit(f"presscheck alone takes {light:.0f} MB; at most {LIGHT}")
        DIST.mkdir(exist_ok=True)
        for path in first.iterdir():
            path.replace(DIST / path.name)
    for name, digest in digests.items():
        sys.stdout.write(f"{digest}  dist/{name}\n")
    sys.stdout.write(
        f"presscheck alone takes {light:.0f} MB\nTag it: git tag -a v{__version__} -m 'presscheck {__version__}'\n"
    )


if __name__ == "__main__":
    main()
