"""Links and single contents of a change request."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.content import GetChangeRequestReusableContent
from presscheck.api.links import ListChangeRequestFileBacklinks, ListChangeRequestPageLinks

FAMILY = Family(
    without_keys={
        GetChangeRequestReusableContent: "it is shown from the whole revision of the change request, never read alone",
        ListChangeRequestFileBacklinks: "no key lists what uses a file; the tab of files counts the links of pages",
        ListChangeRequestPageLinks: "no key lists the links of one page of a change request",
    }
)
