"""Names and validity of X.509 certificates (RFC 5280). Keys, extensions and signatures are neither read nor checked."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyasn1.codec.der import decoder
from pyasn1.error import PyAsn1Error
from pyasn1.type import char
from pyasn1.type.namedtype import DefaultedNamedType, NamedType, NamedTypes, OptionalNamedType
from pyasn1.type.tag import Tag, tagClassContext, tagFormatConstructed, tagFormatSimple
from pyasn1.type.univ import Any as Undecoded
from pyasn1.type.univ import BitString, Choice, Integer, ObjectIdentifier, Sequence, SequenceOf, SetOf
from pyasn1.type.useful import GeneralizedTime, UTCTime

_SHORT = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
    # not in RFC 4514, but in many certificates of providers, such as Okta's
    "1.2.840.113549.1.9.1": "emailAddress",
}
"""The short names of attributes."""
_special = re.compile(r'[\\",+;<>]|^[ #]| $')


def _tag(number: int, *, constructed: bool = False) -> Tag:
    return Tag(tagClassContext, tagFormatConstructed if constructed else tagFormatSimple, number)


_TEXT = Choice(
    componentType=NamedTypes(
        NamedType("utf8String", char.UTF8String()),
        NamedType("printableString", char.PrintableString()),
        NamedType("ia5String", char.IA5String()),
        NamedType("teletexString", char.TeletexString()),
        NamedType("bmpString", char.BMPString()),
        NamedType("universalString", char.UniversalString()),
        NamedType("visibleString", char.VisibleString()),
        NamedType("numericString", char.NumericString()),
    )
)
_ATTRIBUTE = Sequence(componentType=NamedTypes(NamedType("type", ObjectIdentifier()), NamedType("value", Undecoded())))
_NAME = SequenceOf(componentType=SetOf(componentType=_ATTRIBUTE))
_TIME = Choice(componentType=NamedTypes(NamedType("utcTime", UTCTime()), NamedType("generalTime", GeneralizedTime())))
_VALIDITY = Sequence(componentType=NamedTypes(NamedType("notBefore", _TIME), NamedType("notAfter", _TIME)))
_SIGNED_PART = Sequence(
    componentType=NamedTypes(
        DefaultedNamedType("version", Integer(0).subtype(explicitTag=_tag(0, constructed=True))),
        NamedType("serialNumber", Integer()),
        NamedType("signature", Undecoded()),
        NamedType("issuer", _NAME),
        NamedType("validity", _VALIDITY),
        NamedType("subject", _NAME),
        NamedType("subjectPublicKeyInfo", Undecoded()),
        OptionalNamedType("issuerUniqueID", BitString().subtype(implicitTag=_tag(1))),
        OptionalNamedType("subjectUniqueID", BitString().subtype(implicitTag=_tag(2))),
        OptionalNamedType("extensions", Undecoded().subtype(explicitTag=_tag(3, constructed=True))),
    )
)
_CERTIFICATE = Sequence(
    componentType=NamedTypes(
        NamedType("tbsCertificate", _SIGNED_PART),
        NamedType("signatureAlgorithm", Undecoded()),
        NamedType("signature", BitString()),
    )
)


@dataclass(frozen=True)
class Certificate:
    """A certificate.

    Attributes:
        subject: the name of the owner, such as `CN=Okta,O=Example` (RFC 4514).
        issuer: the name of the issuer.
        valid_from: the start of the validity.
        expires_at: the end of the validity.
        fingerprint_sha256: the SHA-256 fingerprint in hexadecimal with colons, as OpenSSL prints it.
    """

    subject: str
    issuer: str
    valid_from: datetime
    expires_at: datetime
    fingerprint_sha256: str

    def days_left(self, now: datetime) -> int:
        """Return the whole days until the certificate expires. Negative after expiry."""
        return (self.expires_at - now) // timedelta(days=1)


def read_certificate(data: bytes) -> Certificate:
    """Read a certificate in DER.

    Raises:
        ValueError: it is not a certificate, or it is damaged.
    """
    try:
        decoded, rest = decoder.decode(data, asn1Spec=_CERTIFICATE)
        signed = decoded["tbsCertificate"]
        validity = signed["validity"]
        certificate = Certificate(
            _name(signed["subject"]),
            _name(signed["issuer"]),
            _time(validity["notBefore"]),
            _time(validity["notAfter"]),
            hashlib.sha256(data).digest().hex(":").upper(),
        )
    except (PyAsn1Error, OverflowError) as error:  # a length may be larger than any memory
        raise ValueError(str(error)) from None
    if rest:
        raise ValueError("more after the certificate")
    return certificate


def _name(name: Any) -> str:
    """Return a name in the form of RFC 4514: the most specific part first."""
    return ",".join("+".join(map(_attribute, part)) for part in reversed([*name]))


def _attribute(attribute: Any) -> str:
    kind, data = str(attribute["type"]), bytes(attribute["value"])
    try:
        text = _escaped(str(decoder.decode(data, asn1Spec=_TEXT)[0].getComponent()))
    except PyAsn1Error:  # not a text
        text = f"#{data.hex()}"
    return f"{_SHORT.get(kind, kind)}={text}"


def _escaped(text: str) -> str:
    return _special.sub(r"\\\g<0>", text).replace("\0", r"\00")


def _time(time: Any) -> datetime:
    text = str(time.getComponent())
    if time.getName() == "utcTime":  # two digits of the year: 1950 to 2049
        text = f"{'19' if text >= '50' else '20'}{text}"
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
