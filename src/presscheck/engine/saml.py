"""SAML: details of a provider's certificates, and the settings in its metadata file."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from defusedxml import ElementTree
from defusedxml.common import DTDForbidden, EntitiesForbidden, ExternalReferenceForbidden

from presscheck.engine.x509 import Certificate, read_certificate
from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

WARNING = timedelta(days=30)
"""The remaining time before expiry at which a certificate gets a warning."""
LONGEST_CERTIFICATE = 1 << 16
"""Maximum number of characters of a text with certificates. The service accepts at most 10,000."""
BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_block = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----(.*?)-----END \1-----", re.DOTALL)
_begin = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_METADATA = "{urn:oasis:names:tc:SAML:2.0:metadata}"
_SIGNATURE = "{http://www.w3.org/2000/09/xmldsig#}"
_BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:"
BINDINGS = ("HTTP-Redirect", "HTTP-POST")
"""The supported sign-in bindings, the preferred binding first."""


@dataclass(frozen=True)
class Validity:
    """The validity of a text with certificates, in words.

    Attributes:
        text: the validity, such as `expires in 12 days`; for a broken certificate, the problem.
        state: `valid`, `warning` (expires soon, or is not valid yet), `expired` or `broken`.
        certificate: the certificate that determines the validity; None if it is broken.
    """

    text: str
    state: str
    certificate: Certificate | None = None


@lru_cache(maxsize=256)
def certificates(text: str) -> tuple[Certificate, ...]:
    """Return the certificates in a text: PEM blocks, or base64 without BEGIN and END lines.

    Raises:
        InvalidArgument: the text has no certificate, or a broken one.
    """
    return tuple(_certificate(body) for body in _bodies(text))


def normalized(text: str) -> str:
    """Normalize a text with certificates for the service: PEM blocks with lines of 64 characters, without text between.

    Raises:
        InvalidArgument: the text has no certificate, or a broken one.
    """
    certificates(text)
    return "".join(map(_pem, _bodies(text)))


def validity(text: str, now: datetime) -> Validity:
    """Return the validity of a text with certificates.

    With several certificates, the valid certificate that expires first counts: a provider that rotates its certificate
    lists the old and the new certificate.
    """
    try:
        known = sorted(certificates(text), key=lambda certificate: certificate.expires_at)
    except InvalidArgument as error:
        return Validity(error.reason, "broken")
    certificate = next((certificate for certificate in known if certificate.expires_at >= now), known[-1])
    days = certificate.days_left(now)
    if days < 0:
        return Validity(f"expired {_days(-days)} ago", "expired", certificate)
    if certificate.valid_from > now:
        return Validity(f"not valid before {certificate.valid_from:%Y-%m-%d}", "warning", certificate)
    if certificate.expires_at - now <= WARNING:
        return Validity(f"expires in {_days(days)}" if days else "expires today", "warning", certificate)
    return Validity(f"expires in {_days(days)}", "valid", certificate)


def _days(number: int) -> str:
    return f"{number:,} day{'' if number == 1 else 's'}"


def read_metadata(data: bytes) -> dict[str, str]:
    """Read the settings from the metadata of a provider, by field of the operation that creates a provider.

    The signature of the metadata is not checked: the metadata must come from a trusted source.

    Raises:
        InvalidArgument: the metadata has a DTD or entities, is not the metadata of a single provider, or lacks a
            setting.
    """
    entity = _entity(_parsed(data))
    descriptor = entity.find(f"{_METADATA}IDPSSODescriptor")
    if descriptor is None:
        is_service = entity.find(f"{_METADATA}SPSSODescriptor") is not None
        why = (
            ": it describes a service, not a provider of sign-in" if is_service else ", so it is no provider of sign-in"
        )
        _refuse(f"has no IDPSSODescriptor{why}")
    entity_id = (entity.get("entityID") or "").strip()
    if not entity_id:
        _refuse("has no entityID")
    texts = list(_signing_certificates(descriptor))
    if not texts:
        _refuse("has no signing certificate")
    for number, text in enumerate(texts, 1):
        try:
            certificates(text)
        except InvalidArgument as error:
            _refuse(f"signing certificate {number} of {len(texts)} {error.reason}")
    return {
        "entity_id": entity_id,
        "sso_url": _sign_in_url(descriptor),
        "certificate": "".join(normalized(text) for text in texts),
    }


def _refuse(reason: str) -> NoReturn:
    raise InvalidArgument("metadata", reason)


def _bodies(text: str) -> list[bytes]:
    """Return the certificates in a text, decoded from base64.

    Raises:
        InvalidArgument: the text is empty, too long or cut off, or has something other than certificates.
    """
    if not text.strip():
        raise InvalidArgument("certificate", "is empty")
    if len(text) > LONGEST_CERTIFICATE:
        raise InvalidArgument("certificate", f"is too long: {len(text):,} characters")
    blocks = _block.findall(text)
    begun = _begin.findall(text)
    other = next((kind for kind in begun if not kind.endswith("CERTIFICATE") or kind == "ATTRIBUTE CERTIFICATE"), "")
    if "PRIVATE KEY" in other:
        raise InvalidArgument(
            "certificate", "has a private key: give the certificate only, and share the key with no one"
        )
    if other:
        raise InvalidArgument("certificate", f"is not a certificate: {other.lower()}")
    if len(blocks) < len(begun):
        raise InvalidArgument("certificate", f"is cut off: the line {END} is missing")
    if not blocks and END in text:
        raise InvalidArgument("certificate", f"is cut off: the line {BEGIN} is missing")
    return [_decoded(body) for _, body in blocks] if blocks else [_decoded(text)]


def _decoded(body: str) -> bytes:
    try:
        return base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgument("certificate", "is not a certificate: neither PEM nor base64") from None


def _certificate(body: bytes) -> Certificate:
    try:
        return read_certificate(body)
    except ValueError:
        raise InvalidArgument("certificate", "is not an X.509 certificate, or it is damaged") from None


def _pem(body: bytes) -> str:
    text = base64.b64encode(body).decode("ascii")
    lines = (text[start : start + 64] for start in range(0, len(text), 64))
    return "\n".join((BEGIN, *lines, END, ""))


def _parsed(data: bytes) -> Element:
    try:
        # without a DTD there are no entities, which could refer to files and URLs
        return ElementTree.fromstring(data, forbid_dtd=True)
    except DTDForbidden:
        _refuse(_danger(data))
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        _refuse(f"is not valid XML: {error}")


def _danger(data: bytes) -> str:
    """Describe the content of a document type declaration. The data is parsed again without following references."""
    try:
        ElementTree.fromstring(data, forbid_dtd=False)
    except EntitiesForbidden as error:
        if error.sysid or error.pubid:
            return "has an external entity, which could read files or addresses from here"
        return "has an entity declaration, which could expand without end"
    except ExternalReferenceForbidden:
        return "has a reference to an external file"
    except (ElementTree.ParseError, ValueError, LookupError):
        pass
    return "has a document type declaration (DTD), which metadata do not need"


def _entity(root: Element) -> Element:
    """Return the entity of the metadata, which may be nested in groups."""
    if root.tag == f"{_METADATA}EntityDescriptor":
        return root
    if root.tag != f"{_METADATA}EntitiesDescriptor":
        _refuse("is not SAML metadata: its first element is not EntityDescriptor")
    found: list[Element] = []
    groups = [root]
    while groups:
        group = groups.pop()
        found += group.findall(f"{_METADATA}EntityDescriptor")
        groups += group.findall(f"{_METADATA}EntitiesDescriptor")
    if len(found) != 1:
        _refuse(f"has {len(found):,} entities: give the metadata of one provider")
    return found[0]


def _signing_certificates(descriptor: Element) -> Iterator[str]:
    """Yield the certificates for signing, without duplicates."""
    path = f"{_SIGNATURE}KeyInfo/{_SIGNATURE}X509Data/{_SIGNATURE}X509Certificate"
    seen: set[str] = set()
    for key in descriptor.findall(f"{_METADATA}KeyDescriptor"):
        for element in key.findall(path) if key.get("use") in (None, "signing") else ():
            body = "".join((element.text or "").split())
            if body not in seen:
                seen.add(body)
                yield body


def _sign_in_url(descriptor: Element) -> str:
    services = descriptor.findall(f"{_METADATA}SingleSignOnService")
    for binding in BINDINGS:
        for service in services:
            url = (service.get("Location") or "").strip()
            if service.get("Binding") == f"{_BINDING}{binding}" and url:
                return _checked(url)
    _refuse(f"has no sign-in URL for {' or '.join(BINDINGS)}")


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        _refuse(f"has a sign-in URL that is no web address: {url[:100]}")
    return url
