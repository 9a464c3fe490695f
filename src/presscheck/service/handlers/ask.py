"""Questions to an organization. No language model is behind the answers: they list the pages that a search finds."""

from __future__ import annotations

from sqlalchemy import select

from presscheck.api.ask import Answer, AnswerSource, AskOrganization, QuestionResponse
from presscheck.api.comments import Document
from presscheck.api.search_results import SearchPageResult
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_inlines import escaped
from presscheck.service.content.search import as_results, best_hits
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.jobs.conversation_clusters import significant_words
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import organization_for, visible_space_ids

LONGEST_QUESTION = 512
MOST_SOURCES = 5
NO_MODEL = "This service has no language model. It searched for the words of your question"


@handles(AskOrganization, writes=False)
def ask_organization(context: Context, call: AskOrganization) -> QuestionResponse:
    """Answer a question with the pages that match it best, among the pages that the caller may see."""
    organization = organization_for(context, call.organization_id, "guest")
    if len(call.query) > LONGEST_QUESTION:
        raise ApiError(400, f"query: must have at most {LONGEST_QUESTION} characters")
    seen = select(SpaceRow).where(SpaceRow.id.in_(visible_space_ids(context, organization.id)))
    spaces = {space.id: space for space in context.session.scalars(seen.order_by(SpaceRow.position, SpaceRow.id))}
    # a question that consists of common words is searched unchanged
    words = " ".join(significant_words(call.query)) or call.query
    matches = best_hits(context, [*spaces.values()], words, MOST_SOURCES)
    results = as_results(context, matches.hits, matches.terms)
    sources = tuple(
        AnswerSource(
            page=hit.page["id"],
            revision=spaces[hit.place.space_id].revision_id,
            space=hit.place.space_id,
            sections=tuple(section.id.partition("#")[2] or section.id for section in result.sections or ()),
        )
        for hit, result in zip(matches.hits, results, strict=True)
    )
    markdown = _text(results)
    is_document = call.format == "document"
    answer = Document(document=markdown_to_nodes(markdown)) if is_document else Document(markdown=markdown)
    return QuestionResponse(answer=Answer(answer=answer, sources=sources))


def _text(results: tuple[SearchPageResult, ...]) -> str:
    if not results:
        return f"{NO_MODEL}, and found no page.\n"
    lines = [f"{NO_MODEL}, and found these pages:", ""]
    for result in results:
        lines.append(f"* [{escaped(result.title)}]({result.urls.app})")
        excerpt = next((section.body for section in result.sections or () if section.body), "")
        lines += ["", f"  {escaped(excerpt)}", ""] if excerpt else []
    return "\n".join(lines).rstrip() + "\n"
