"""Generates certificates and metadata of SAML providers."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:"


@cache
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def private_key() -> str:
    return key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def certificate(name: str = "Keys", *, days: float = 400, begins: float = -1000) -> str:
    """Return a certificate in PEM format that expires in `days` days."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    today = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name} CA")]))
        .public_key(key().public_key())
        .serial_number(7)
        .not_valid_before(today + timedelta(days=begins))
        .not_valid_after(today + timedelta(days=days, minutes=5))
        .sign(key(), SHA256())
    )
    return signed.public_bytes(Encoding.PEM).decode()


def body(pem: str) -> str:
    """Return the base64 text of a certificate, without the lines around it."""
    return "".join(pem.splitlines()[1:-1])


def der(pem: str) -> bytes:
    return base64.b64decode(body(pem))


def metadata(
    certificates: Sequence[str] = (),
    *,
    uses: Sequence[str] = (),
    bindings: Sequence[str] = ("HTTP-POST", "HTTP-Redirect"),
    entity_id: str = "urn:keys",
    before: str = "",
    role: str = "IDPSSODescriptor",
    url: str = "https://keys.example/sso",
) -> str:
    """Return the metadata of a provider; `uses` are the uses of the certificates, empty for none."""
    keys = "".join(
        f"<md:KeyDescriptor{_use(use)}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\n"
        f"{body(pem)}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        for pem, use in zip(certificates, uses or ["signing"] * len(certificates), strict=True)
    )
    services = "".join(
        f'<md:SingleSignOnService Binding="{BINDING}{binding}" Location="{url}/{binding}"/>' for binding in bindings
    )
    return (
        f'<?xml version="1.0"?>\n{before}<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"'
        f' xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="{entity_id}">'
        f"<md:{role}>{keys}{services}</md:{role}></md:EntityDescriptor>"
    )


def _use(word: str) -> str:
    return f' use="{word}"' if word else ""


def group(*entities: str) -> str:
    """Combine the metadata of several providers into one document."""
    inner = "".join(metadata_text.partition("?>\n")[2] for metadata_text in entities)
    return f'<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">{inner}</md:EntitiesDescriptor>'
