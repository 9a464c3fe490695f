"""Names of the targets of writes, and descriptions of writes with these names."""

import json
from typing import Any

import pytest
from tests.engine.write_samples import REQUEST, SITE, text

from presscheck.api import external_links, permissions, site_settings, site_structure, teams
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, RevertPage, UpdatePage
from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.engine.results import Result
from presscheck.engine.writes.descriptions import describe
from presscheck.engine.writes.target_names import target_names


def page(identity: str, title: str, *pages: Any) -> dict[str, Any]:
    return {"id": identity, "type": "document", "title": title, "pages": pages}


TREE = [page("ship", "Ship", page("a", "Customs", page("b", "Forms"))), page("c", "Re\nturns"), page("d", "D" * 90)]
SPACE = {"object": "site-space", "id": "sp", "title": "", "space": {"id": "s", "title": "API"}}
SECTION = {"object": "site-section", "id": "se", "title": "Develop", "siteSpaces": [SPACE]}
GROUP = {"object": "site-section-group", "id": "gr", "title": "More", "children": [SECTION]}
LINK = {"object": "site-external-link", "id": "li", "title": "Status", "url": "https://a.example"}
RESOURCES = {
    ("site-redirect", "r"): {"source": "/old"},
    ("share-link", "l"): {"name": "For Bo"},
    ("team", "t"): {"title": "Docs"},
    ("member", "u"): {"user": {"displayName": "Noor Haddad"}},
}


class Stored:
    """A cache with a page tree, the structure of a site, and some resources."""

    def __init__(self, *answers: tuple[Any, Any]) -> None:
        self._answers = {call.key(): (call, answer) for call, answer in answers}

    def known(self, call: Any, /) -> Any:
        if call.key() not in self._answers:
            return None
        call, answer = self._answers[call.key()]
        return Result(read_answer(call, json.dumps(answer).encode()), "cached", 0.0)

    def resource(self, kind: str, identity: str) -> dict[str, Any]:
        return RESOURCES.get((kind, identity), {})


STORED = Stored(
    (ListChangeRequestPages(**REQUEST), {"pages": TREE}),
    (site_structure.GetSiteStructure(**SITE), {"type": "sections", "structure": [GROUP, LINK]}),
)


def edit(*changes: Any) -> EditChangeRequestContent:
    return EditChangeRequestContent(**REQUEST, changes=changes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (edit(DeletePage(page="ship")), "delete page “Ship” with 2 subpages"),
        (edit(DeletePage(page="c")), "delete page “Re turns”"),
        (edit(DeletePage(page="d")), f"delete page “{'D' * 39}…”"),
        (edit(DeletePage(page="a"), DeletePage(page="c")), "delete 2 pages: “Customs”, “Re turns”"),
        (
            edit(DeletePage(page="a"), DeletePage(page="c"), DeletePage(page="d")),
            "delete 3 pages: “Customs”, “Re turns” and 1 more",
        ),
        (edit(DeletePage(page="gone")), "delete page"),
        (edit(RevertPage(page="c", revision="v")), "restore page “Re turns”"),
        (edit(InsertPage(title="New", document=text("x"))), "add page “New”"),
        (edit(UpdatePage(page="c", into=None, at=0)), "move page “Re turns”"),
        (edit(UpdatePage(page="c", hidden=True)), "hide page “Re turns”"),
        (edit(UpdatePage(page="c", slug="x")), "change slug of page “Re turns”"),
        (edit(UpdatePage(page="c", title="my page")), "rename page “Re turns” to “my page”"),
        (edit(UpdatePage(page="c", document=text("x"))), "edit page"),
        (site_structure.DeleteSection(**SITE, site_section_id="se"), "remove section “Develop”"),
        (site_structure.DeleteSiteSpace(**SITE, site_space_id="sp"), "remove space “API” from the site"),
        (
            site_structure.UpdateSection(**SITE, site_section_id="se", default_site_space="sp"),
            "change default site space of section “Develop”",
        ),
        (
            site_structure.UpdateSectionGroup(**SITE, site_section_group_id="gr", title="Group page"),
            "rename group “More” to “Group page”",
        ),
        (
            site_structure.UpdateSiteSpace(**SITE, site_space_id="sp", path="x"),
            "change path of space “API” in the site",
        ),
        (external_links.DeleteExternalLink(**SITE, site_external_link_id="li"), "remove link “Status”"),
        (site_settings.DeleteRedirect(**SITE, site_redirect_id="r"), "delete redirect “/old”"),
        (site_settings.UpdateShareLink(**SITE, share_link_id="l", active=True), "turn share link “For Bo” on"),
        (teams.UpdateTeam(organization_id="o", team_id="t", title="Writers"), "rename team “Docs” to “Writers”"),
        (
            teams.RemoveTeamMember(organization_id="o", team_id="t", user_id="u"),
            "remove member “Noor Haddad” of team",
        ),
        (
            permissions.RemoveSpaceUserPermission(space_id="s", user_id="u"),
            "remove level of user “Noor Haddad”",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_description_names_the_target_of_the_write(call: Operation[Any], words: str) -> None:
    assert describe(call, target_names(call, STORED) or "") == words
    assert target_names(call, Stored()) is None or not isinstance(call, EditChangeRequestContent)
    assert "“Re turns”" not in describe(call), "a row of an older version has no names"
