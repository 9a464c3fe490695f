"""The details of an item: its fields, and facts that need another request or a computation, such as certificates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.saml import GetSAMLProvider, ListSSOLogins
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width, wrap
from presscheck.tui.screens.admin.facts import VALIDITY_STYLES, Fact, facts
from presscheck.tui.screens.text_screen import TextScreen

if TYPE_CHECKING:
    from pydantic import BaseModel

    from presscheck.api.organizations import Organization
    from presscheck.api.saml import SAMLProvider
    from presscheck.engine.engine import Engine
    from presscheck.tui.ui.screen import BaseScreen

NAME_COLUMNS = 26
"""Width in cells of the column of names in the details."""
NO_SIGN_IN_LINK = "none yet: it needs a sign-in URL, an entity id and a certificate"
"""Shown in place of the sign-in link of an incomplete provider."""


class Losses(NamedTuple):
    """The consequences of removing items.

    Attributes:
        sentences: descriptions of the losses, as display text.
        refusal: why the items cannot be removed; empty if they can.
        is_grave: whether the user must type the name to confirm.
    """

    sentences: tuple[str, ...] = ()
    refusal: str = ""
    is_grave: bool = False


@dataclass(frozen=True)
class Details:
    """Extra content in the details of an item.

    Attributes:
        read: yields the item with its extra facts, and yields both again whenever more facts have loaded.
        left_out: fields of the item that the facts replace.
    """

    read: Callable[[Engine, Organization, Any], AsyncIterator[tuple[Any, Sequence[Fact]]]]
    left_out: tuple[str, ...] = ()


def show_details(
    screen: BaseScreen, organization: Organization | None, details: Details | None, item: BaseModel, title: str
) -> None:
    """Open the details of an item.

    Args:
        screen: the screen below the details.
        organization: the organization; None if it is not loaded.
        details: extra content; None for the fields only.
        item: the item.
        title: the title of the screen, as display text.
    """
    columns = screen.size.width
    left_out = details.left_out if details else ()
    page = TextScreen(title, fact_lines(facts(item, left_out), columns))
    screen.app_context.push_screen(page)
    if details is None or organization is None:
        return

    async def read() -> None:
        async for loaded, more in details.read(screen.engine, organization, item):
            page.show(fact_lines((*facts(loaded, left_out), *more), columns))

    screen.run(read, group="details", exclusive=True)


def fact_lines(given: Iterable[Fact], columns: int) -> list[Line]:
    """Format facts, each on its own line. Long values wrap."""
    lines: list[Line] = []
    for fact in given:
        value = (Span(fact.value, fact.style),)
        for at, row in enumerate(wrap(value, max(20, columns - NAME_COLUMNS - 4)) or [()]):
            label: Line = cut((Span(fact.name, "quiet"),), NAME_COLUMNS - 2) if at == 0 else ()
            lines.append((Span("  "), *label, Span(" " * (NAME_COLUMNS - width(label))), *row))
    return lines


async def _provider(
    engine: Engine, organization: Organization, provider: SAMLProvider
) -> AsyncIterator[tuple[SAMLProvider, Sequence[Fact]]]:
    """Yield a provider with the facts of its certificates, then again with the sign-in link."""
    yield provider, await asyncio.to_thread(certificate_facts, provider.certificate)
    path = {"organization_id": organization.id}
    provider = await engine.read(GetSAMLProvider(**path, saml_provider_id=provider.id))
    logins = (await engine.read(ListSSOLogins(**path))).items
    login = next((login for login in logins if login.id == provider.id), None)
    link = Fact("sign-in link", sanitize(login.start_url or "") if login else NO_SIGN_IN_LINK, "" if login else "quiet")
    yield provider, (link, *await asyncio.to_thread(certificate_facts, provider.certificate))


def certificate_facts(text: str | None) -> list[Fact]:
    """Return the facts of all certificates in a text; without a readable certificate, a single fact with the reason.

    Call this function in a thread: it imports the slow module that reads certificates.
    """
    from presscheck.engine.saml import certificates, validity  # 40 ms, needed for SAML only

    if not text or not text.strip():
        return [Fact("certificate", "none", "quiet")]
    today = now()
    summary = validity(text, today)
    result = [Fact("certificate", sanitize(summary.text), VALIDITY_STYLES.get(summary.state, ""))]
    if summary.certificate is None:
        return result
    readable = certificates(text)
    for number, certificate in enumerate(readable, 1):
        start = f"certificate {number} › " if len(readable) > 1 else "certificate › "
        left = certificate.days_left(today)
        days = f"{left:,} days left" if left >= 0 else "expired"
        result += [
            Fact(f"{start}subject", sanitize(certificate.subject)),
            Fact(f"{start}issuer", sanitize(certificate.issuer)),
            Fact(f"{start}valid from", f"{certificate.valid_from:%Y-%m-%d %H:%M} UTC"),
            Fact(f"{start}expires", f"{certificate.expires_at:%Y-%m-%d %H:%M} UTC  ({days})"),
            Fact(f"{start}SHA-256", certificate.fingerprint_sha256),
        ]
    return result


PROVIDER_DETAILS = Details(_provider, ("certificate",))
