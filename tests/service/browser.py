"""Drives a headless browser."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.needs import require


def browse(tmp_path: Path, url: str, *options: str) -> str:
    """The page as the browser renders it."""
    command = [
        str(require("chromium")),
        "--headless=new",
        # root and most containers have no sandbox, and the pages are our own
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
        *options,
    ]
    ran = subprocess.run([*command, "--virtual-time-budget=2000", url], capture_output=True, text=True, timeout=60)
    return ran.stdout
