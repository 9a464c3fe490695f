"""A program that runs the app, for tests that end it from outside."""

PROGRAM = """
import sys
from pathlib import Path
from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.tui.app import PresscheckApp
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.text.styled_text import Span
from presscheck.wiring import open_engine

class Greeting(TextScreen):
    def __init__(self):
        super().__init__("Ready", [(Span(f"line {n}"),) for n in range(200)])

    def command_errors(self):
        secret_in_a_local = "marker-token"
        raise RuntimeError("a bug")

class Small(PresscheckApp):
    MODES = {"inbox": Greeting}

home = Path(sys.argv[1])
profile = Profile(base_url="http://127.0.0.1:9", token="marker-token")
places = Places(home / "config", home / "cache", home / "state", home / "data")
sys.exit(Small(lambda _: open_engine(profile, places), profile, places).run_to_end())
"""
