"""The form of a saved audience: a name, and the claims of its visitors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from presscheck.engine.publish.audiences import Audience, Audiences
from presscheck.engine.publish.claim_forms import AudienceForm
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.form_dialog import FormContent, FormDialog

if TYPE_CHECKING:
    from presscheck.documents.visitors.claim_schema import Claim
    from presscheck.tui.ui.screen import BaseScreen


def draft_key(site_id: str, audience: Audience | None) -> str:
    """Return the draft key of an audience, or of a new audience if `audience` is None."""
    return f"audience {audience.name if audience else 'new'} of site {site_id}"


def claims_text(audience: Audience) -> str:
    """Return the claims of an audience as a single line."""
    return ", ".join(_claims("", audience.claims)) or "no claims"


def _claims(above: str, claims: Mapping[str, Any]) -> Iterator[str]:
    """Yield claims with their values. Nested claims have dotted paths, as in conditions."""
    for name, value in claims.items():
        if isinstance(value, dict) and value:
            yield from _claims(f"{above}{name}.", cast("dict[str, Any]", value))
        else:
            yield f"{above}{name} = {json.dumps(value, ensure_ascii=False)}"


async def ask_audience(
    screen: BaseScreen, site_id: str, claims: Sequence[Claim], audience: Audience | None = None
) -> Audience | None:
    """Ask for an audience in a form, and save it.

    Args:
        screen: the screen below the form.
        site_id: the site of the audience.
        claims: the claims of the visitor schema.
        audience: the audience to change; None to add an audience.

    Returns:
        The saved audience, or None if the form was closed.
    """
    outbox = screen.engine.outbox
    form = AudienceForm(claims, audience)
    saved: list[Audience] = []

    async def save(changed: Audience) -> None:
        Audiences(outbox, site_id).save(changed.name, changed.claims, former=audience.name if audience else "")
        saved.append(changed)

    dialog = FormDialog(
        FormContent(f"Audience {sanitize(audience.name)}" if audience else "New audience", form, form.present),
        save,
        DraftSlot(outbox, draft_key(site_id, audience)),
        send_label="save",
    )
    if await screen.ask(dialog) is None:
        return None
    return saved[-1] if saved else None
