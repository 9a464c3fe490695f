"""The app in a web browser. The only package that imports aiohttp.

Textual's server for browsers, textual-serve, brings xterm.js and aiohttp. Its own server is not used: it checks neither
Host nor Origin, starts the app through a shell, waits for the end of an app without a limit, and its page loads a font
from another host.
"""

from presscheck.extras import require_extra

require_extra("web")  # before any module of this package
