"""Questions to an organization, which are answered by a search without a language model."""

from __future__ import annotations

import pytest
from tests.service.factories import World

from presscheck.api.ask import Answer, AskOrganization
from presscheck.api.spaces import GetSpace, UpdateSpace
from presscheck.errors import Refused
from presscheck.service.handlers.ask import NO_MODEL


async def answer(world: World, query: str, by: str = "read", **how: object) -> Answer:
    call = AskOrganization(organization_id=world.organization, query=query, **how)
    found = (await world.clients[by].send(call)).answer
    assert found is not None
    return found


async def test_sources_are_pages_with_words_of_the_question(world: World) -> None:
    found = await answer(world, "What do we find in the reference, all of it?")
    live = (await world.admin.send(GetSpace(space_id=world.space))).revision
    assert found.answer and found.answer.markdown and "* [Reference](" in found.answer.markdown
    assert (found.sources[0].space, found.sources[0].revision) == (world.space, live)
    assert (await answer(world, "Who is welcome?")).sources[0].sections == ("start",)


async def test_page_with_most_words_of_the_question_is_the_first_source(world: World) -> None:
    found = await answer(world, "second welcome guide", format="markdown")
    assert found.answer and found.answer.markdown
    assert found.answer.markdown.index("[Guide]") < found.answer.markdown.index("[Start]")
    assert len(found.sources) == 2


async def test_answer_states_that_no_model_wrote_it(world: World) -> None:
    for query in ("guide", "zeppelin"):
        found = await answer(world, query)
        assert found.answer and (found.answer.markdown or "").startswith(NO_MODEL)
    assert found.sources == ()
    as_nodes = await answer(world, "guide", format="document")
    assert as_nodes.answer and as_nodes.answer.markdown is None and NO_MODEL in str(as_nodes.answer.document)


async def test_question_of_only_common_words_is_searched_unchanged(world: World) -> None:
    assert (await answer(world, "of it")).sources


async def test_spaces_that_the_caller_does_not_see_are_not_sources(world: World) -> None:
    await world.admin.send(UpdateSpace(space_id=world.space, default_level=None))
    assert (await answer(world, "guide")).sources == ()
    assert (await answer(world, "guide", by="admin")).sources


async def test_long_question_is_refused(world: World) -> None:
    with pytest.raises(Refused, match="at most 512 characters"):
        await answer(world, "why " * 200)
