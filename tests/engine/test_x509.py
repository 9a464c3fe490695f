"""Names and validity of certificates, compared with the library cryptography."""

import random
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from tests.saml_files import key

from presscheck.engine.x509 import read_certificate

SHORT = {NameOID.EMAIL_ADDRESS: "emailAddress"}
LONG_AGO, FAR = datetime(1960, 2, 29, 1, 2, 3), datetime(2060, 1, 1)
NAMES = [
    [[(NameOID.COMMON_NAME, "Keys")]],
    [],
    [
        [(NameOID.COUNTRY_NAME, "DE")],
        [(NameOID.STATE_OR_PROVINCE_NAME, " a=b"), (NameOID.LOCALITY_NAME, "日本")],
        [(NameOID.STREET_ADDRESS, '1 "Street"')],
        [(NameOID.ORGANIZATION_NAME, "A, B+C;<d>\\\0 e"), (NameOID.ORGANIZATIONAL_UNIT_NAME, "")],
        [(NameOID.DOMAIN_COMPONENT, "com")],
        [(NameOID.USER_ID, "#7")],
        [(NameOID.EMAIL_ADDRESS, "a@b.example")],
        [(NameOID.COMMON_NAME, " ")],
    ],
]


def made(
    name: Sequence[Sequence[tuple[x509.ObjectIdentifier, str]]], begins: datetime = LONG_AGO, ends: datetime = FAR
) -> x509.Certificate:
    subject = x509.Name(
        [x509.RelativeDistinguishedName([x509.NameAttribute(*pair, _validate=False) for pair in part]) for part in name]
    )
    begun = x509.CertificateBuilder().subject_name(subject).issuer_name(x509.Name([*reversed([*subject.rdns])]))
    dated = begun.serial_number(1 << 150).not_valid_before(begins).not_valid_after(ends)
    extended = dated.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return extended.public_key(key().public_key()).sign(key(), SHA256())


def facts_of(certificate: x509.Certificate) -> tuple[str, str, datetime, datetime, str]:
    return (
        certificate.subject.rfc4514_string(SHORT),
        certificate.issuer.rfc4514_string(SHORT),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        certificate.fingerprint(SHA256()).hex(":").upper(),
    )


def facts_in(data: bytes) -> tuple[str, str, datetime, datetime, str]:
    read = read_certificate(data)
    return read.subject, read.issuer, read.valid_from, read.expires_at, read.fingerprint_sha256


@pytest.mark.parametrize("name", NAMES)
def test_names_equal_those_of_cryptography(name: Sequence[Sequence[tuple[x509.ObjectIdentifier, str]]]) -> None:
    certificate = made(name)
    assert facts_in(certificate.public_bytes(Encoding.DER)) == facts_of(certificate)


def test_years_have_two_or_four_digits() -> None:
    for begins, ends in (
        (datetime(1950, 1, 1), datetime(1999, 12, 31, 23, 59, 59)),
        (datetime(2000, 1, 1), datetime(2049, 12, 31, 23, 59, 59)),
        (datetime(2050, 1, 1), datetime(9999, 12, 31, 23, 59, 59)),
    ):
        read = read_certificate(made(NAMES[0], begins, ends).public_bytes(Encoding.DER))
        assert (read.valid_from, read.expires_at) == (begins.replace(tzinfo=UTC), ends.replace(tzinfo=UTC))


def test_certificates_of_certifi_are_read_like_by_cryptography() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a serial number that is not positive
        certificates = x509.load_pem_x509_certificates(Path(certifi.where()).read_bytes())
    assert len(certificates) > 100
    for certificate in certificates:
        assert facts_in(certificate.public_bytes(Encoding.DER)) == facts_of(certificate)


def test_damaged_certificate_is_an_error_or_read_like_by_cryptography() -> None:
    chance = random.Random(7)
    good = [made(name).public_bytes(Encoding.DER) for name in NAMES]
    same = broken = 0
    for _ in range(2_000):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(data))
            data[at : at + chance.choice((0, 1, 1))] = bytes(chance.choices(range(256), k=chance.choice((0, 1, 1, 2))))
        try:
            read = facts_in(bytes(data))
        except ValueError:
            broken += 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = facts_of(x509.load_der_x509_certificate(bytes(data)))
            except (ValueError, TypeError, x509.InvalidVersion):
                continue  # the damage is in a part that only cryptography reads
        same += read[2:] == expected[2:]
        assert read[2:] == expected[2:]
    assert same > 100 and broken > 1_000


def test_data_after_a_certificate_is_an_error() -> None:
    with pytest.raises(ValueError, match="more after"):
        read_certificate(made(NAMES[0]).public_bytes(Encoding.DER) + b"\5\0")
