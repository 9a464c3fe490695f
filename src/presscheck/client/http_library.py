"""httpx and httpcore without their unused parts, which would take half of the memory of the libraries."""

import sys
from types import ModuleType
from typing import cast

UNUSED = ("httpx._main", "h2")
"""The command line of httpx, with click, pygments and progress bars; and HTTP/2, imported once TLS negotiates it."""

_hidden = [name for name in UNUSED if name not in sys.modules]
# importing these modules fails, which both libraries handle
sys.modules.update(dict.fromkeys(_hidden, cast("ModuleType", None)))
try:
    import httpcore as httpcore
    import httpx as httpx
finally:
    for _name in _hidden:
        del sys.modules[_name]
