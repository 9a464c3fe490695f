"""Previews in the browser: of a site, or of a site with an unmerged change request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.api.site_settings import GetPreview
from presscheck.api.sites import ListSites
from presscheck.engine.publish.previews import preview_url, spaces_of_site
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.sites import Site
    from presscheck.engine.review.model import ReviewModel
    from presscheck.tui.ui.screen import BaseScreen

MANY = 1000
"""Maximum number of open change requests to choose from."""


def preview_reason(context: BaseScreen) -> str | None:
    """Return why no preview can be opened: the app is offline, or the service makes no previews."""
    if not context.engine.status.online:
        return "you are offline, and the service makes the preview"
    return context.engine.missing_reason(GetPreview)


async def _open(context: BaseScreen, organization_id: str, site_id: str, request: ChangeRequest | None) -> None:
    context.notify("waiting for the preview …")
    url = await preview_url(context.engine, organization_id, site_id, request=request)
    open_address(context.app_context, url)


async def preview_site(context: BaseScreen, organization_id: str, site: Site) -> None:
    """Open a preview of the site in the browser. If its spaces have open change requests, offer to include one."""
    spaces = {one.space.id: one for one in await spaces_of_site(context.engine, organization_id, site.id)}
    listing = ListOrganizationChangeRequests(organization_id=organization_id, status="open", limit=MANY)
    answer = await context.engine.read(listing)
    requests = {request.id: request for request in answer.items if request.space in spaces}
    chosen: str = ""
    if requests:
        choices = [Choice("", "The site as it is now", "drafts and unpublished spaces too")]
        for request in requests.values():
            title = sanitize(spaces[request.space].space.title)
            choices.append(Choice(request.id, f"#{request.number} {sanitize(request.subject)}", title))
        answered = await choose(context, "Preview the site with", choices)
        if answered is None:
            return
        chosen = answered
    await _open(context, organization_id, site.id, requests.get(chosen))


class RequestPreview:
    """The preview of a change request on a site that contains its space.

    Args:
        model: the change request.
        context: the screen.
    """

    def __init__(self, model: ReviewModel, context: BaseScreen) -> None:
        self._model, self._context = model, context

    def reason_preview_site(self) -> str | None:
        """Return why the preview cannot be opened: the change request is still loading, or previews are unavailable."""
        is_known = self._model.request and self._model.space and self._model.space.organization
        return preview_reason(self._context) if is_known else "the change request is still loading"

    async def command_preview_site(self) -> None:
        """Open the preview in the browser. If several sites contain the space, ask for a site."""
        request, space = self._model.request, self._model.space
        if request is None or space is None or not space.organization:
            return
        answer = await self._context.engine.read(ListSites(organization_id=space.organization, space=space.id))
        sites = [Choice(site.id, sanitize(site.title) or "(no title)", site.visibility or "") for site in answer.items]
        if not sites:
            self._context.notify("no preview: its space is on no site")
            return
        if len(sites) == 1:
            await _open(self._context, space.organization, sites[0].key, request)
            return
        chosen = await choose(self._context, f"Preview #{request.number} on", sites)
        if chosen:
            await _open(self._context, space.organization, chosen, request)
