"""Operations that the app sends only to a service that has no operations beyond its document."""

from tests.tui.operation_keys.driver import Family, row
from tests.tui.operation_keys.places import SITES

from presscheck.api.published_sites import GetPublishedSite

FAMILY = Family(
    release="document",
    profile={"user": "robin"},
    rows=(
        # replaces the structure of a site, which such a service does not have
        row(GetPublishedSite, SITES),
    ),
)
