"""Reads the inputs of the merge checks, for callers without a review model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import GetOrganization
from presscheck.api.spaces import GetSpace
from presscheck.engine.members import user_id
from presscheck.engine.review.comment_state import is_open_comment
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.review.merge_readiness import MergeInputs, reviewers
from presscheck.engine.shared_calls import comments_on, reviewers_of, reviews_of

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.roles import MergeRules
    from presscheck.api.spaces import Space
    from presscheck.engine.protocols import Reader


async def read_merge_inputs(engine: Reader, request: ChangeRequest) -> MergeInputs:
    """Read the inputs of all merge checks.

    This includes a forecast of the merge and a search for conflict markers in every changed page.

    Raises:
        PresscheckError: one of the inputs cannot be read.
    """
    me = await user_id(engine)
    asked = (await engine.read(reviewers_of(request))).items
    reviews = (await engine.read(reviews_of(request))).items
    space = await engine.read(GetSpace(space_id=request.space))
    result = await forecast(engine, request, reads_all=True)
    found: dict[str, Any] = {}
    if result:
        found["conflicts"] = tuple(conflict.title for conflict in result.conflicts)
        found["unresolved"] = tuple(page.title for page in result.unresolved)
    return MergeInputs(
        request,
        me,
        reviewers(request, asked, reviews, me),
        space,
        await _rules(engine, space),
        sum(map(is_open_comment, (await engine.read(comments_on(request))).items)),
        **found,
    )


async def _rules(engine: Reader, space: Space) -> MergeRules | None:
    """Return the merge rules in force: the organization's rules if the space inherits them, else the space's rules."""
    rules = space.merge_rules
    if rules and rules.type == "inherit" and space.organization:
        return (await engine.read(GetOrganization(organization_id=space.organization))).merge_rules
    return rules
