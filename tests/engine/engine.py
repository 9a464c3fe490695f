"""Helpers for tests that write through the engine."""

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace
from presscheck.engine.engine import Engine


async def begun(engine: Engine):
    organization = (await engine.read(ListOrganizations())).items[0]
    space = await engine.write(CreateSpace(organization_id=organization.id, title="Space")).landed()
    assert space
    request = await engine.write(CreateChangeRequest(space_id=space.id, subject="A change")).landed()
    assert request
    return request


def threads(request, **more) -> ListComments:
    return ListComments(space_id=request.space, change_request_id=request.id, format="markdown", order="asc", **more)


def comment(request, text: str) -> PostComment:
    return PostComment(space_id=request.space, change_request_id=request.id, body=Document(markdown=text))
