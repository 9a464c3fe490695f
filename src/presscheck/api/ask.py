"""Questions to the content of an organization."""

from typing import Literal

from pydantic import Field

from presscheck.api.comments import Document
from presscheck.api.operation import InOrganization, Model, Operation


class AnswerSource(Model):
    """A page that the answer comes from, with the ids of its sections."""

    type: str = "page"
    page: str | None = None
    revision: str | None = None
    space: str | None = None
    sections: tuple[str, ...] = ()
    reason: str | None = None


class Answer(Model):
    """An answer with its sources and further questions."""

    answer: Document | None = None
    followup_questions: tuple[str, ...] = ()
    sources: tuple[AnswerSource, ...] = ()


class QuestionResponse(Model):
    """The response to a question. `answer` is None if no answer was found."""

    answer: Answer | None = None


class AskOrganization(InOrganization, Operation[QuestionResponse]):
    """Ask a question about the content of an organization.

    The local service has no language model: its answer is the pages with most words of the question.
    """

    operation_id = "askInOrganization"
    route = "POST /orgs/{organization_id}/ask"
    in_query = frozenset({"format", "details"})
    feature = "questions to organizations"
    release = "0.202.0"

    query: str
    previous_queries: tuple[str, ...] | None = Field(default=None, max_length=10)
    format: Literal["document", "markdown"] | None = None
    details: bool | None = None
