"""Limits of the plan of a site: a line for its type, and a line for its frozen features."""

from tests.table import each_case

from presscheck.api.sites import Site, SiteFeature
from presscheck.engine.publish.plan_limits import plan_limits

FROZEN = SiteFeature(id="sites-visitor-authentication", plan="ultimate", frozen=True)
FONTS = SiteFeature(id="sites-custom-fonts", plan="premium", frozen=True)


@each_case(
    ("site", "lines"),
    [
        (Site(id="s", type="premium"), []),
        (Site(id="s", type="premium", applied_type="premium"), []),
        (
            Site(id="s", type="premium", applied_type="basic"),
            ["Type: premium was chosen, but the plan applies basic"],
        ),
        (Site(id="s", features=(FROZEN.model_copy(update={"frozen": False}),)), []),
        (
            Site(id="s", features=(FONTS, FROZEN)),
            ["Frozen by the plan: custom fonts (from premium on); visitor sign-in (from ultimate on)"],
        ),
        (Site(id="s", features=(FONTS.model_copy(update={"plan": None}),)), ["Frozen by the plan: custom fonts"]),
    ],
)
def test_a_line_for_each_limit(site: Site, lines: list[str]) -> None:
    assert plan_limits(site) == lines
