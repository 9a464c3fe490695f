"""What is sent only to a service with the operations of its document and no others."""

from tests.tui.operation_keys.driver import Family, row
from tests.tui.operation_keys.places import SITES

from presscheck.api.published_sites import GetPublishedSite

FAMILY = Family(
    release="document",
    profile={"user": "robin"},
    rows=(
        # stands in for the structure of a site
        row(GetPublishedSite, SITES),
    ),
)
