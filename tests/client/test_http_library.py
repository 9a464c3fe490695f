"""The one private module of httpx that is touched, and the versions that it was looked at in."""

import re
import sys
from importlib.metadata import version
from importlib.util import find_spec

from tests.root import ROOT
from tests.rules.sources import MODULES

from presscheck.client import http_library


def test_the_hidden_modules_are_those_of_the_version_that_was_looked_at() -> None:
    assert version("httpx").startswith("0.28."), "look whether httpx still does without its command line"
    assert [name for name in http_library.UNUSED if find_spec(name) is None] == []
    assert all(sys.modules.get(name, ...) is not None for name in http_library.UNUSED), "hidden only during the import"


def test_private_modules_are_touched_in_one_place() -> None:
    private = re.compile(r"\b(httpx|httpcore)\._[a-z]")
    assert [str(path.relative_to(ROOT)) for path in MODULES if private.search(path.read_text("utf-8"))] == [
        "src/presscheck/client/http_library.py"
    ]
