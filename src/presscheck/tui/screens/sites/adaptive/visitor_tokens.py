"""Visitor tokens: decoding and checking a pasted token, and creating a token for an audience.

Checking and creating a token require the key of the site, which is never shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from presscheck.api.operation import NOT_CACHED
from presscheck.api.site_settings import GetPublishingAuth
from presscheck.documents.visitors.conditions import Path
from presscheck.engine.publish.visitor_tokens import (
    LIFETIME,
    VisitorToken,
    audience_of,
    make_token,
    read_token,
    seeing_the_same,
)
from presscheck.errors import Forbidden, InvalidArgument, NotFound
from presscheck.text.phrases import count, now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad
from presscheck.tui.commands import key_for
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.engine.publish.audiences import Audience
    from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent

LONGEST_PASTE = 8000
"""Maximum number of characters of a pasted token, or of the address that contains it."""


async def ask_token(session: AdaptiveContent, audience: Audience | None = None) -> None:
    """Test a pasted token, or create a token for an audience.

    Args:
        session: the adaptive content of the site.
        audience: the audience under the cursor; None if there is none.
    """
    if audience and not audience.problem:
        choices = [
            Choice("test", "Test a token", "paste it", letter="t"),
            Choice("make", f"Make a token for {sanitize(audience.name)}", f"valid for {span(LIFETIME)}", letter="m"),
        ]
        if session.site.urls.published:
            choices.append(Choice("address", "Make one, with the address of the site", "opens it so", letter="a"))
        chosen = await choose(session.screen, "Visitor token", choices)
        if chosen is None:
            return
        if chosen != "test":
            await _make(session, audience, with_address=chosen == "address")
            return
    await _test(session)


async def _test(session: AdaptiveContent) -> None:
    title = f"Visitor token (JWT) for {sanitize(session.site.title)}"
    hint = "paste the token, or the address with it"
    text = await prompt(session.screen, title, max_length=LONGEST_PASTE, validate=_problem, hint=hint)
    if text is None:
        return
    key, reason = await _key(session)
    token = read_token(text, key, now().timestamp())
    session.screen.app_context.push_screen(TextScreen("Visitor token", _lines(session, token, reason)))


async def _make(session: AdaptiveContent, audience: Audience, *, with_address: bool) -> None:
    key, reason = await _key(session)
    if key is None:
        session.screen.notify(f"no token without the key of the site: {reason}")
        return
    token = make_token(audience.claims, key, now().timestamp())
    address = session.site.urls.published if with_address else ""
    joint = "&" if address and "?" in address else "?"
    session.screen.app_context.copy_to_clipboard(f"{sanitize(address)}{joint}jwt_token={token}" if address else token)
    what = "an address with a token" if address else "a token"
    session.screen.notify(f"copied {what} for {sanitize(audience.name)}: it is valid for {span(LIFETIME)}")


async def _key(session: AdaptiveContent) -> tuple[str | None, str]:
    """Return the key of the site, or None and the reason why it cannot be read."""
    try:
        key = (await session.screen.engine.read(GetPublishingAuth(**session.path))).private_key
    except (Forbidden, NotFound):
        return None, "you need the role admin in the organization"
    if key == NOT_CACHED:
        return None, "you are offline, and the key is not cached"
    return (key, "") if key else (None, f"the site has no key: {key_for('rotate_key')} in its access makes one")


def _lines(session: AdaptiveContent, token: VisitorToken, reason: str) -> list[Line]:
    """Return the lines about a token: signature, validity, audience and claims."""
    sign, style, words = {
        "valid": ("✓", "added", "the site signed it"),
        "invalid": ("✗", "removed", token.problem),
        "unknown": ("?", "waiting", f"not checked: {reason or token.problem}"),
    }[token.signature]
    lines = [(), _row("Signature", Span(f"{sign} {sanitize(words)}", style))]
    lines.append(_row("Algorithm", Span(sanitize(token.algorithm))))
    if token.time_problem:
        lines.append(_row("Time", Span(f"✗ {token.time_problem}", "removed")))
    elif token.expires_at is None:
        lines.append(_row("Time", Span("never expires", "waiting")))
    else:
        lines.append(_row("Time", Span(f"✓ expires in {span(token.expires_at - now().timestamp())}", "added")))
    lines.append(_row("Audience", *_audience_spans(session, token)))
    if session.site.visibility != "visitor-auth":
        note = f"the site is {sanitize(session.site.visibility)}: it asks nobody for a token"
        lines.append(_row("Site", Span(note, "waiting")))
    lines += [(), (Span(" Claims", "title"),), ()]
    claims = token.visitor_claims
    lines += [_row(name, Span(_shown(value)), _note(name, value, session.known)) for name, value in claims.items()]
    lines += [(Span(" no claims about the visitor", "quiet"),)] if not claims else []
    others = [(name, value) for name, value in token.claims.items() if name not in claims]
    lines += [_row(name, Span(_shown(value), "quiet")) for name, value in others]
    return lines


def _audience_spans(session: AdaptiveContent, token: VisitorToken) -> list[Span]:
    claims, content = token.visitor_claims, session.content.value
    if same := audience_of(claims, session.audiences):
        return [Span(sanitize(same.name), "strong"), Span("  the same claims", "quiet")]
    places = content.places if content else ()
    alike = seeing_the_same(claims, session.audiences, places, session.known) if places else ()
    if alike:
        names = ", ".join(sanitize(one.name) for one in alike)
        return [Span(names, "strong"), Span("  other claims, the same pages", "quiet")]
    saved = count(len(session.audiences), "saved audience")
    return [Span(f"none of {saved}" if session.audiences else "no audience is saved yet", "quiet")]


def _row(name: str, *spans: Span) -> Line:
    return (Span(" "), *pad((Span(f"{sanitize(name)} ", "quiet"),), 16), *spans)


def _shown(value: object) -> str:
    return sanitize(json.dumps(value, ensure_ascii=False))


def _note(name: str, value: object, known: frozenset[Path] | None) -> Span:
    """Return a warning if the schema lacks a claim, else an empty span."""
    is_unknown = known is not None and (name,) not in known
    return Span("   not in the schema", "waiting") if is_unknown else Span("")


def _problem(text: str) -> str | None:
    """Return why a text is not a token; None for a token."""
    try:
        read_token(text, None, 0)
    except InvalidArgument as error:
        return error.reason
    return None
