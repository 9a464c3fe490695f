"""The customization in a file: merged fields, lists and null values, problems, and share keys, which are hidden."""

from typing import Any

from tests.table import each_case

from presscheck.api.site_settings import ShareLink
from presscheck.api.site_structure import PublishedUrl
from presscheck.api.sites import Site, SiteUrls
from presscheck.engine.publish.shown_addresses import SHORTEST
from presscheck.engine.site_config.push_plan import customization_problems, merged, with_link_targets
from presscheck.engine.site_config.site_state import SiteSecrets

SITE: dict[str, Any] = {
    "title": "Docs",
    "favicon": None,
    "styling": {"font": "Inter", "primaryColor": {"light": "#aaaaaa", "dark": "#bbb"}},
    "pdf": {"enabled": True},
    "header": {"links": [{"title": "A", "to": None, "links": [{"title": "B", "to": None}]}]},
}


@each_case(
    ("file", "prune", "wanted"),
    [
        ({"styling": {"font": "Lato"}}, False, {**SITE, "styling": {**SITE["styling"], "font": "Lato"}}),
        ({"styling": {"font": "Lato"}}, True, {"favicon": None, "styling": {"font": "Lato"}}),
        ({"new": {"a": 1}}, False, {**SITE, "new": {"a": 1}}),
        ({"title": "X", "favicon": {"icon": "1f4a1"}}, True, {"title": "X", "favicon": {"icon": "1f4a1"}}),
    ],
)
def test_a_file_is_merged_into_the_whole_customization(file: dict[str, Any], prune: bool, wanted: Any) -> None:
    assert merged(SITE, file, prune=prune) == wanted


def test_lists_are_replaced_and_null_targets_stay_at_their_places() -> None:
    links = [{"title": "C", "links": [{"title": "B"}, {"title": "D"}]}, {"title": "E"}]
    assert merged(SITE["header"]["links"], links) == [
        {"to": None, "title": "C", "links": [{"to": None, "title": "B"}, {"title": "D"}]},
        {"title": "E"},
    ]
    assert merged(SITE["header"]["links"], [{"title": "C", "to": {"kind": "url"}}])[0]["to"] == {"kind": "url"}
    assert with_link_targets({"header": {"preset": "bold", "links": links}}) == {
        "header": {"preset": "bold", "links": [{"to": None, **link} for link in links]}
    }
    target = {"header": {"links": [{"title": "C", "to": {"kind": "url"}}, "wrong"]}}
    assert with_link_targets(target) == target
    for other in ({}, {"header": None}, {"header": {"links": None}}):
        assert with_link_targets(other) == other


@each_case(
    ("file", "problems"),
    [
        ({"styling": "bold"}, ["customization.styling: must be a table with keys and values"]),
        ({"header": {"links": {}}}, ["customization.header.links: must be a list"]),
        ({"pdf": {"enabled": 1}}, ["customization.pdf.enabled: must be true or false"]),
        ({"title": 3}, ["customization.title: must be a text: put it in quotes"]),
        ({"titel": "x"}, ["customization.titel: is not a known key; known: "]),
        ({"header": {"links": [{"title": 1}]}}, ["customization.header.links[0].title: must be a text"]),
        ({"styling": {"primaryColor": {"light": "#aaaa", "dark": "blue"}}}, ["light: must be a color", "dark: must"]),
        ({"styling": {"primaryColor": {"light": "#AbC", "dark": "#00ff00"}}}, []),
        ({"header": {"logo": {"light": "https://x.example/a.png", "dark": "b"}}}, []),
        ({"title": "Other", "pdf": {"enabled": False}}, []),
    ],
)
def test_invalid_values_are_problems(file: dict[str, Any], problems: list[str]) -> None:
    found = [str(problem) for problem in customization_problems(SITE, file)]
    assert len(found) == len(problems), found
    assert all(words in problem for words, problem in zip(problems, found, strict=True)), found


def test_existing_values_of_the_site_are_not_checked() -> None:
    odd = {"titel": "x", "styling": {"primaryColor": {"light": "red"}}}
    assert customization_problems(odd, odd) == []
    changed = {**odd, "styling": {"primaryColor": {"light": "pink"}}}
    assert [problem.place[-1] for problem in customization_problems(odd, changed)] == ["light"]


def shared(identity: str, name: str | None, key: str) -> ShareLink:
    url = PublishedUrl(published=f"https://docs.example/docs/{key}/")
    return ShareLink(id=identity, name=name, urls=url)


SHARED_SITE = Site(id="s", visibility="share-link", urls=SiteUrls(published="https://docs.example/docs/own-key-1234"))


def test_share_keys_are_hidden_in_files_and_restored_for_the_site() -> None:
    assert len("unnamed2") == SHORTEST
    links = (shared("l1", "Partners", "partner-key-1"), shared("l2", None, "unnamed2"))
    secrets = SiteSecrets(SHARED_SITE, (*links, shared("l3", "Short", "x" * (SHORTEST - 1))))
    present = {
        "header": {"links": [{"to": {"url": "https://docs.example/docs/partner-key-1/a?b=unnamed2"}}, 3, None]},
        "footer": f"own-key-1234 and {'x' * (SHORTEST - 1)}",
    }
    hidden = secrets.hide(present)
    assert hidden == {
        "header": {"links": [{"to": {"url": "https://docs.example/docs/(key of Partners)/a?b=(key of l2)"}}, 3, None]},
        "footer": f"(key of the site) and {'x' * (SHORTEST - 1)}",
    }
    assert secrets.reveal(hidden) == present
    public = SiteSecrets(SHARED_SITE.model_copy(update={"visibility": "public"}), ())
    assert public.hide(present) == present, "the last part of a public address is no key"


def test_share_links_with_the_same_name_keep_their_own_keys() -> None:
    keys = ("first-key-1", "second-key-2", "third-key-3")
    links = [shared(f"l{at}", "the site" if at == 2 else "Client", key) for at, key in enumerate(keys)]
    secrets = SiteSecrets(SHARED_SITE, links)
    text = " ".join((*keys, "own-key-1234"))
    hidden = secrets.hide(text)
    assert hidden == "(key of Client) (key of Client, l1) (key of the site, l2) (key of the site)"
    assert secrets.reveal(hidden) == text
