"""The app in a web browser. The only package that imports aiohttp.

The package textual-serve provides xterm.js and aiohttp. Its server is not used: it checks neither Host nor Origin,
starts the app through a shell, waits for an app to exit without a time limit, and its page loads a font from another
host.
"""

from presscheck.extras import require_extra

require_extra("web")  # before any module of this package
