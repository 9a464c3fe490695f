"""`presscheck saml`: the SAML providers of an organization, and how long their certificates are valid."""

from __future__ import annotations

from typing import Any, cast

import click

from presscheck.api.saml import (
    CreateSAMLProvider,
    DeleteSAMLProvider,
    GetSAMLProvider,
    ListSAMLProviders,
    ListSSOLogins,
    SAMLProvider,
    UpdateSAMLProvider,
)
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import CommandSpec, group_of, sends
from presscheck.cli.operations.references import find_id
from presscheck.cli.output import as_json, row_of
from presscheck.cli.session import Session, limit_option, org_option, with_session
from presscheck.engine.forms.references import reference_of
from presscheck.text.phrases import now

COLUMNS = ("id", "label", "status", "defaultRole", "createdAt", "certificate")


saml_group = group_of(
    "saml",
    "Manage sign-in by SAML.\n\nPROVIDER is the id or the label of a provider.",
    CommandSpec("create", CreateSAMLProvider, done="SAML provider created."),
    CommandSpec("edit", UpdateSAMLProvider, done="SAML provider updated."),
    CommandSpec("delete", DeleteSAMLProvider, done="SAML provider deleted.", confirm="Delete this SAML provider"),
    CommandSpec("logins", ListSSOLogins, ("id", "label", "startURL")),
)


@saml_group.command("list")
@org_option
@limit_option
@with_session
@sends(ListSAMLProviders)
async def list_providers(session: Session, org: str | None, limit: int) -> None:
    """List the SAML providers of an organization.

    The last column shows when the certificate expires. In JSON, `certificate` has its fingerprint and dates.
    """
    organization = await lookup.organization(session, org)
    providers = await session.all(ListSAMLProviders(organization_id=organization.id), limit)
    if session.json:
        session.show([with_certificate(provider) for provider in providers])
        return
    rows = [
        dict(zip(COLUMNS, (*row_of(provider, COLUMNS[:-1]), certificate_column(provider)), strict=True))
        for provider in providers
    ]
    session.show(rows, COLUMNS)


@saml_group.command("show")
@click.argument("saml_provider_id", metavar="PROVIDER")
@org_option
@with_session
@sends(GetSAMLProvider)
async def show_provider(session: Session, saml_provider_id: str, org: str | None) -> None:
    """Show a SAML provider with the details of its certificate."""
    path = {"organization_id": (await lookup.organization(session, org)).id}
    reference = reference_of(GetSAMLProvider, "saml_provider_id")
    if reference:
        saml_provider_id = await find_id(session, reference, saml_provider_id, path, "PROVIDER")
    provider = await session.read(GetSAMLProvider(**path, saml_provider_id=saml_provider_id))
    value = with_certificate(provider)
    session.show(value, hidden=("certificate.pem",))


def certificate_column(provider: SAMLProvider) -> str:
    """Return the validity of a provider's certificate in words; empty without a certificate."""
    from presscheck.engine.saml import validity  # 40 ms, only for a list of providers

    if not provider.certificate:
        return ""
    status = validity(provider.certificate, now())
    return f"invalid: {status.text}" if status.state == "broken" else status.text


def with_certificate(provider: SAMLProvider) -> dict[str, Any]:
    """Return a provider as JSON. `certificate` is an object with its text (`pem`) and details such as its dates."""
    from presscheck.engine.saml import validity  # 40 ms, only for the facts of a certificate

    value = cast("dict[str, Any]", as_json(provider))
    if not provider.certificate:
        return {**value, "certificate": None}
    status, today = validity(provider.certificate, now()), now()
    facts: dict[str, Any] = {"pem": provider.certificate, "state": status.state}
    if status.certificate is None:
        value["certificate"] = {**facts, "problem": status.text}
        return value
    value["certificate"] = {
        **facts,
        "subject": status.certificate.subject,
        "issuer": status.certificate.issuer,
        "valid_from": status.certificate.valid_from.isoformat(),
        "expires_at": status.certificate.expires_at.isoformat(),
        "days_left": status.certificate.days_left(today),
        "fingerprint_sha256": status.certificate.fingerprint_sha256,
    }
    return value
