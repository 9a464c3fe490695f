"""Items of a structure: keys, kinds, titles and children, and valid paths and names of icons."""

from tests.table import each_case

from presscheck.api.site_structure import OtherStructureItem, SiteSection, SiteSectionGroup, SiteSpace
from presscheck.api.spaces import Space
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.site_structure import (
    all_items,
    children_of,
    icon_problem,
    kind_of,
    path_problem,
    pointer,
    title_of,
)

SPACE = SiteSpace(id="i", space=Space(id="s", title="In the space"))
SECTION = SiteSection(id="a", title="\x1b[31mAPI", site_spaces=(SPACE,))
GROUP = SiteSectionGroup(id="g", children=(SiteSectionGroup(id="h", children=(SECTION,)),), sections=(SECTION,))
LINK = OtherStructureItem(object="site-link", id="l", title="Blog")


def test_items_are_walked_depth_first_each_once() -> None:
    assert [key_of(item) for item in all_items((GROUP, LINK, SPACE))] == [
        "site-section-group g",
        "site-section-group h",
        "site-section a",
        "site-space i",
        "site-link l",
        "site-space i",
    ]
    assert (children_of(LINK), children_of(SPACE)) == ((), ())
    assert [kind_of(item) for item in (SPACE, SECTION, GROUP, LINK)] == ["space", "section", "group", "link"]
    assert [pointer(item).type for item in (SECTION, LINK)] == ["site-section", "site-external-link"]
    assert pointer(GROUP).id == "g"


def test_a_title_is_display_text_and_never_empty() -> None:
    named = SPACE.model_copy(update={"title": "In the site"})
    titles = [title_of(item) for item in (SPACE, named, SECTION, GROUP)]
    assert titles == ["In the space", "In the site", "\u241b[31mAPI", "(no title)"]


@each_case(
    ("text", "problem"),
    [
        ("api", None),
        ("v1.2-\u00fcber_a", None),
        ("Api", "small letters only"),
        ("", "small letters, digits, _ and single - or ."),
        ("a--b", "small letters, digits, _ and single - or ."),
        ("a-", "small letters, digits, _ and single - or ."),
        ("a/b", "small letters, digits, _ and single - or ."),
        ("api\n", "small letters, digits, _ and single - or ."),
        ("used", "it is the path of Guides"),
    ],
)
def test_invalid_path_has_a_reason(text: str, problem: str | None) -> None:
    assert path_problem(text, {"used": "Guides"}) == problem


def test_invalid_icon_has_a_reason() -> None:
    assert icon_problem("book-2") is None
    assert icon_problem("Book") == icon_problem("book 2") == "small letters, digits and - only"
