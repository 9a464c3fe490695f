"""httpx and httpcore without the parts that are not used: they would be half of what the library takes in memory."""

import sys
from types import ModuleType
from typing import cast

UNUSED = ("httpx._main", "h2")
"""The command line of httpx, with click, pygments and progress bars; HTTP/2, imported once a TLS handshake negotiates it."""

_hidden = [name for name in UNUSED if name not in sys.modules]
sys.modules.update(dict.fromkeys(_hidden, cast("ModuleType", None)))  # an import of these fails; both libraries allow that
try:
    import httpcore as httpcore  # noqa: E402  # 90 ms, only hidden names before it
    import httpx as httpx  # noqa: E402
finally:
    for _name in _hidden:
        del sys.modules[_name]
