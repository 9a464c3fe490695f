"""Information about the service."""

from __future__ import annotations

from presscheck import __version__
from presscheck.api.system import ApiInformation, GetApiInformation
from presscheck.service.http.operations import Context, handles


@handles(GetApiInformation)
def get_api_information(_context: Context, _call: GetApiInformation) -> ApiInformation:
    """Return the newest release of the API, and the version of presscheck."""
    return ApiInformation(version=GetApiInformation.release or "", build=f"presscheck {__version__}")
