"""httpx and httpcore without the parts that are not used: they would be half of what the library takes in memory."""

import sys
from types import ModuleType
from typing import cast

UNUSED = ("httpx._main", "h2")
"""The command line of httpx, with click, pygments and progress bars; HTTP/2, imported once TLS negotiates it."""

_hidden = [name for name in UNUSED if name not in sys.modules]
# an import of these fails, for which both libraries are prepared
sys.modules.update(dict.fromkeys(_hidden, cast("ModuleType", None)))
try:
    import httpcore as httpcore
    import httpx as httpx
finally:
    for _name in _hidden:
        del sys.modules[_name]
