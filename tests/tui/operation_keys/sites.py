"""Sites: their structure, adaptive content, publishing."""

from tests.tui.operation_keys.driver import HERE, Cursor, Family, Shows, Text, row
from tests.tui.operation_keys.places import SITES, form, sent, typed_title, yes

from presscheck.api.site_findings import GetSiteFinding, ListSiteFindingPages, ListSiteFindings, UpdateSiteFinding
from presscheck.api.site_settings import GetAdaptiveSchema, ListTemplateConditions, UpdateAdaptiveSchema
from presscheck.api.site_structure import SortSiteStructure
from presscheck.api.sites import CreateSite, DeleteSite, GetSite, ListSites, PublishSite, UnpublishSite, UpdateSite
from presscheck.api.style_guides import CreateStyleGuide, ListStyleGuideTemplates

FAMILY = Family(
    rows=(
        row((ListSites, GetSite), SITES),
        row(SortSiteStructure, HERE, Cursor("Tallowick Docs"), "g u", Shows("› Structure"), "J"),
        row(ListTemplateConditions, SITES, "g c", Shows("no visitor schema yet")),
        row(
            (UpdateAdaptiveSchema, GetAdaptiveSchema),
            HERE,
            *("a", form(), Text("plan"), "down down down", Text("What they pay for"), "ctrl+s", Shows("1 claim")),
        ),
        row(
            (ListSiteFindings, ListSiteFindingPages),
            *(SITES, "g n", Shows("no description"), "/", Text("Insurance"), "enter enter"),
            Shows("› Insurance"),
        ),
        row(
            (UpdateSiteFinding, GetSiteFinding),
            *(SITES, "g n", Shows("no description"), "x", Shows("2 Done 1"), sent(), "z"),
            *yes("Reopens it"),
        ),
        row(
            (ListStyleGuideTemplates, CreateStyleGuide),
            *(SITES, "g k", Shows("Plain language"), "enter", Shows("› Style guide of Tallowick Docs")),
        ),
        row(
            CreateSite,
            SITES,
            *("a", Text("New docs"), "enter", Shows("Spaces of the new site"), Text("Runbook"), "enter"),
            Shows("› New docs"),
        ),
        row(UpdateSite, HERE, "E", Shows("Change New docs"), "t", Text("Docs 2"), "enter", Shows("› Docs 2")),
        row(PublishSite, HERE, "P", *yes("Publish Docs 2?"), Shows("The site is live")),
        row(
            UnpublishSite,
            HERE,
            "q",
            Shows("› Docs 2"),
            "P",
            *typed_title("type: Docs 2", "Docs 2"),
            Shows("Unpublished"),
        ),
        row(DeleteSite, HERE, "q", Shows("› Docs 2"), "-", *typed_title("Delete Docs 2?", "Docs 2")),
    )
)
