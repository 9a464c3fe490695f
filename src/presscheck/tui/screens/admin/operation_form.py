"""Forms that fill in an API operation. A draft stores the whole form, so that it opens again without its table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from presscheck.api.integrations import PublishIntegration
from presscheck.api.operation import operation_called
from presscheck.documents.pages.tree import flatten
from presscheck.engine.forms.form import Form, OperationForm
from presscheck.engine.forms.form_files import file_of
from presscheck.engine.forms.parts_form import PartsForm, has_parts, with_file
from presscheck.engine.forms.references import PAGE
from presscheck.engine.integrations.publication import NAME, PublishForm
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.admin.facts import value_at
from presscheck.tui.screens.admin.form_checks import check
from presscheck.tui.screens.form_dialog import FormContent, FormDialog
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.drafts import Draft
    from presscheck.engine.engine import Engine
    from presscheck.engine.forms.form import FormField
    from presscheck.engine.forms.references import Reference
    from presscheck.tui.ui.screen import BaseScreen

FORM = "form"
"""The name under which a draft stores its form as JSON."""


@dataclass(frozen=True)
class StoredForm:
    """A form as stored with its draft.

    Attributes:
        title: the title of the dialog, as display text.
        operation: the stored name of the operation.
        given: the values of fields that the form does not ask for.
        present: the initial texts of the fields.
        path: the path parameters, such as `organization_id`, that list the items which the fields refer to.
        targets: the items that the operation is sent for, if there are several: each name, as display text, with the
            fields that identify the item.
    """

    title: str
    operation: str
    given: Mapping[str, Any]
    present: Mapping[str, str]
    path: Mapping[str, Any]
    targets: Sequence[tuple[str, Mapping[str, Any]]] = ()

    @property
    def digest(self) -> str:
        """A hash of the targets, for the key of the draft."""
        return sha256(json.dumps([identity for _, identity in self.targets]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Receipt:
    """The result of sending a form for several items.

    Attributes:
        done: the number of changed items.
        failed: the names of the items that failed, with the error; untrusted text.
    """

    done: int
    failed: tuple[str, ...] = ()


def outcome(title: str, answer: Any) -> str:
    """Return a short message about a sent form.

    Args:
        title: the title of the form, as display text.
        answer: the return value of `fill_in`.
    """
    if not isinstance(answer, Receipt) or not answer.failed:
        return f"{title}: done"
    return f"{title}: {answer.done} done, {len(answer.failed)} failed: {sanitize(answer.failed[0])}"


def show_failures(screen: BaseScreen, failed: Sequence[str]) -> None:
    """Show failures on a screen if there are several. A single failure is shown in the notification already.

    Args:
        screen: the screen below the list.
        failed: names with errors; untrusted text.
    """
    if len(failed) > 1:
        lines: list[Line] = [(), *((Span(f"  {sanitize(one)}", "removed"),) for one in failed)]
        screen.app_context.push_screen(TextScreen(f"{len(failed):,} failed", lines))


def stored_form(draft: Draft) -> StoredForm | None:
    """Return the form of a draft. None for other drafts, and for forms that this version cannot open."""
    try:
        fields: Any = json.loads(draft.stored.about.get(FORM, "null"))
        form = StoredForm(**cast("dict[str, Any]", fields)) if isinstance(fields, dict) else None
        if form:
            operation_called(form.operation)
            if not all(isinstance(values, dict) for values in (form.given, form.present, form.path)):
                return None
            if not all(isinstance(identity, dict) for _, identity in form.targets):
                return None
    except (ValueError, TypeError, PresscheckError):
        return None
    return form


def form_of(operation: type[Operation[Any]], given: Mapping[str, Any]) -> Form:
    """Return the form of an operation. Nested JSON becomes separate fields.

    The values may come from a form that an earlier version stored. Values of fields that the operation no longer has
    are dropped, and the dialog still shows the typed texts.
    """
    if operation is PublishIntegration:
        return PublishForm(str(given.get("organization", "")), name=str(given.get(NAME, "")))
    known = {name: value for name, value in given.items() if name in operation.model_fields}
    return PartsForm(operation, known) if has_parts(operation) else OperationForm(operation, known)


@dataclass(frozen=True)
class FormForSeveral(Form):
    """A form that is sent for several items. It shows the fields of a single form, and copies a command per item.

    Attributes:
        form: the form for the first item.
        targets: the name of each item, with the fields that identify it.
    """

    form: Form
    targets: Sequence[tuple[str, Mapping[str, Any]]]

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        return self.form.fields

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Any:
        return self.form.result(texts, present)

    @override
    def changes_nothing(self, result: Any) -> bool:
        return self.form.changes_nothing(result)

    @override
    def command(self, result: Any) -> str:
        return "\n".join(self.form.command(result.model_copy(update=dict(fields))) for _, fields in self.targets)


async def fill_in(screen: BaseScreen, form: StoredForm, key: str) -> Any:
    """Fill in and send an operation. Unsent input is a draft with `key`.

    Args:
        screen: the screen below the form.
        form: the form.
        key: the key of the draft.

    Returns:
        The answer of the service, or the call if there is no answer. For several items, a receipt. None if nothing
        was sent.
    """
    operation = operation_called(form.operation)
    about = {FORM: json.dumps(asdict(form), ensure_ascii=False), "title": form.title}

    async def send_with_file(call: Operation[Any]) -> Any:
        call = await asyncio.to_thread(with_file, call)
        return await (_send_each(form.targets, call, send_one) if form.targets else send_one(call))

    async def send_one(call: Operation[Any]) -> Any:
        await check(screen, call)
        return await send(screen, call)

    async def lookup(reference: Reference) -> list[Choice] | None:
        return await choices_of(screen.engine, reference, {**dialog.chosen_ids, **form.path})

    asked = form_of(operation, dict(form.given))
    filled_in = FormForSeveral(asked, form.targets) if form.targets else asked
    content = FormContent(form.title, filled_in, form.present, file_of(operation), has_command=True)
    dialog = FormDialog(content, send_with_file, DraftSlot(screen.engine.outbox, key, about=about), lookup=lookup)
    answer = await screen.ask(dialog)
    if isinstance(answer, Receipt):
        show_failures(screen, answer.failed)
    return answer


async def _send_each(
    targets: Sequence[tuple[str, Mapping[str, Any]]],
    call: Operation[Any],
    send_one: Callable[[Operation[Any]], Awaitable[Any]],
) -> Receipt:
    """Send a call for each target, and collect the failures."""
    failed: list[str] = []
    for name, identity in targets:
        try:
            await send_one(call.model_copy(update=dict(identity)))
        except PresscheckError as error:
            failed.append(f"{name}: {error.message}")
    return Receipt(len(targets) - len(failed), tuple(failed))


async def choices_of(engine: Engine, reference: Reference, path: Mapping[str, Any]) -> list[Choice] | None:
    """Return the items that a field can refer to; None if `path` lacks a parameter of each listing.

    The first listing whose path parameters are all in `path` is used.
    """
    listing = next((listing for listing in reference.listings if set(listing.path_fields()) <= set(path)), None)
    if listing is None:
        return None
    given = {name: value for name, value in path.items() if name in listing.model_fields}
    items = await _listed(engine, reference, listing(**given))
    label, *notes = sorted(reference.names, key=lambda name: name != reference.label)
    return [
        Choice(
            str(value_at(item, reference.id)),
            sanitize(str(value_at(item, _snake(label)) or value_at(item, reference.id))),
            sanitize(str(value_at(item, _snake(notes[0])) or "")) if notes else "",
        )
        for item in items
    ]


async def _listed(engine: Engine, reference: Reference, listing: Operation[Any]) -> Sequence[Any]:
    """Return all items of a listing, from all its pages or from a single answer.

    A page tree is flattened, parents first.
    """
    if not reference.items:
        return await whole_listing(engine, listing)
    items: Sequence[Any] = getattr(await engine.read(listing), reference.items)
    return [*flatten(items)] if reference is PAGE else items


def _snake(path: str) -> str:
    """Convert a path of wire names to field names: `user.displayName` becomes `user.display_name`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in path)
