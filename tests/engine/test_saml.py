"""SAML: facts and validity of certificates, normalized texts, and metadata files."""

import base64
import io
import os
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from tests.bait import SECRET, Bait
from tests.saml_files import body, certificate, der, group, metadata, private_key
from tests.table import each_case

from presscheck.api.saml import CreateSAMLProvider
from presscheck.engine.forms.form import form_fields
from presscheck.engine.forms.form_files import SAML_METADATA
from presscheck.engine.saml import certificates, normalized, read_metadata, validity
from presscheck.errors import InvalidArgument

BOMB = '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;"><!ENTITY lol3 "&lol2;&lol2;&lol2;">]>\n'
EXTERNAL = '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>\n'
PARAMETER = '<!DOCTYPE x [<!ENTITY % remote SYSTEM "http://keys.example/x.dtd">%remote;]>\n'


def reason(text: str) -> str:
    with pytest.raises(InvalidArgument) as error:
        normalized(text)
    assert error.value.field == "certificate" and "\n" not in error.value.reason
    return error.value.reason


def refusal(content: str | bytes) -> str:
    with pytest.raises(InvalidArgument) as error:
        SAML_METADATA.read(io.BytesIO(content.encode() if isinstance(content, str) else content))
    assert error.value.field == "metadata" and "\n" not in error.value.reason
    return error.value.reason


def test_facts_of_a_certificate_are_read() -> None:
    pem = certificate("Keys", days=12)
    [told] = certificates(pem)
    assert (told.subject, told.issuer) == ("CN=Keys", "CN=Keys CA")
    assert told.fingerprint_sha256.replace(":", "").lower() == (
        x509.load_pem_x509_certificate(pem.encode()).fingerprint(SHA256()).hex()
    )
    assert told.days_left(datetime.now(UTC)) == 12
    assert told.expires_at - told.valid_from > timedelta(days=1000)


@each_case(
    ("days", "begins", "text", "state"),
    [
        (400, -10, "expires in 400 days", "valid"),
        (31, -10, "expires in 31 days", "valid"),
        (29, -10, "expires in 29 days", "warning"),
        (1, -10, "expires in 1 day", "warning"),
        (0, -10, "expires today", "warning"),
        (-1, -10, "expired 1 day ago", "expired"),
        (-3, -10, "expired 3 days ago", "expired"),
    ],
)
def test_warning_begins_thirty_days_before_expiry(days: int, begins: int, text: str, state: str) -> None:
    told = validity(certificate(days=days, begins=begins), datetime.now(UTC))
    assert (told.text, told.state) == (text, state)


def test_certificate_that_is_not_valid_yet_is_a_warning() -> None:
    told = validity(certificate(days=90, begins=40), datetime.now(UTC))
    assert told.state == "warning" and told.text.startswith("not valid before 2")


def test_valid_certificate_that_expires_first_counts() -> None:
    old, soon, late = certificate("Old", days=-5), certificate("Soon", days=20), certificate("Late", days=500)
    told = validity(late + old + soon, datetime.now(UTC))
    assert told.certificate and told.certificate.subject == "CN=Soon"
    assert validity(old + certificate("Older", days=-9), datetime.now(UTC)).text == "expired 5 days ago"


def test_all_forms_of_a_certificate_have_the_same_normalized_text() -> None:
    pem = certificate()
    wrapped = "\n".join(body(pem)[at : at + 20] for at in range(0, len(body(pem)), 20))
    for text in (
        pem,
        pem.replace("\n", "\r\n"),
        " ".join(pem.split("\n")),
        body(pem),
        wrapped,
        f"Bag Attributes\n    friendlyName: keys\n{pem}\n\n",
    ):
        assert normalized(text) == pem
    assert normalized(f"subject=CN = A\n{pem}issuer=x\n{pem}") == pem + pem


def test_form_shows_a_certificate_on_one_line_and_sends_all_lines() -> None:
    field = next(one for one in form_fields(CreateSAMLProvider) if one.name == "certificate")
    pem = certificate("Keys", days=12)
    text = field.text_of(pem)
    assert "\n" not in text and field.value_of(text) == pem
    assert field.note_of(text) == "CN=Keys: expires in 12 days"
    assert field.note_of("x") == field.note_of("") == ""


def test_a_broken_certificate_is_refused_with_the_reason() -> None:
    pem = certificate()
    assert reason(" \n") == "is empty"
    assert reason("hello there!") == "is not a certificate: neither PEM nor base64"
    assert reason(base64.b64encode(b"hello there").decode()) == "is not an X.509 certificate, or it is damaged"
    assert reason(pem[:300]) == "is cut off: the line -----END CERTIFICATE----- is missing"
    assert reason(pem[30:]) == "is cut off: the line -----BEGIN CERTIFICATE----- is missing"
    assert reason(pem + pem[:300]) == "is cut off: the line -----END CERTIFICATE----- is missing"
    assert reason(private_key()).startswith("has a private key")
    assert reason(pem + private_key()).startswith("has a private key")
    assert reason(pem.replace("CERTIFICATE", "PUBLIC KEY")) == "is not a certificate: public key"
    assert reason("A" * 70_000) == "is too long: 70,000 characters"
    assert validity("hello", datetime.now(UTC)).state == "broken"


def test_damaged_certificate_never_raises_an_unexpected_error() -> None:
    good, chance = der(certificate()), random.Random(7)
    broken = 0
    for _ in range(400):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        told = validity(base64.b64encode(data[: chance.choice((len(data), chance.randrange(len(data))))]).decode(),
                        datetime.now(UTC))  # fmt: skip
        broken += told.state == "broken"
    assert broken > 100


def test_metadata_of_a_provider() -> None:
    first, second, other = certificate("First"), certificate("Second"), certificate("For encryption")
    text = metadata([first, other, second, first], uses=["signing", "encryption", "", "signing"])
    assert read_metadata(text.encode()) == {
        "entity_id": "urn:keys",
        "sso_url": "https://keys.example/sso/HTTP-Redirect",
        "certificate": first + second,
    }
    assert read_metadata(metadata([first], bindings=("SOAP", "HTTP-POST")).encode())["sso_url"].endswith("HTTP-POST")
    assert read_metadata(metadata([first]).encode("utf-16"))["certificate"] == first
    assert read_metadata(group(metadata([first])).encode())["entity_id"] == "urn:keys"


@each_case(
    ("before", "told"),
    [
        (BOMB, "has an entity declaration, which could expand without end"),
        (EXTERNAL, "has an external entity, which could read files or addresses from here"),
        (PARAMETER, "has an external entity, which could read files or addresses from here"),
        ("<!DOCTYPE x>\n", "has a document type declaration (DTD), which metadata do not need"),
        (
            '<!DOCTYPE x SYSTEM "http://keys.example/x.dtd">\n',
            "has a document type declaration (DTD), which metadata do not need",
        ),
    ],
)
def test_entities_and_document_types_are_refused(before: str, told: str) -> None:
    assert refusal(metadata([certificate()], before=before)) == told


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE x [<!ENTITY secret SYSTEM "{}">]>\n',
        '<!DOCTYPE x [<!ENTITY % remote SYSTEM "{}"><!ENTITY secret "x">%remote;]>\n',
        '<!DOCTYPE x PUBLIC "-//X//X//EN" "{}">\n',
        '<?xml-stylesheet type="text/xsl" href="{}"?>\n',
    ],
)
def test_metadata_cannot_include_files_or_urls(bait: Bait, before: str) -> None:
    for address in bait.addresses:
        text = metadata([certificate()], before=before.format(address))
        include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" parse="text" href="{address}"/>'
        for inserted in ("<a>&secret;</a>", include):
            try:
                result = str(read_metadata(text.replace("<md:Key", f"{inserted}<md:Key").encode()))
            except InvalidArgument as error:
                result = error.reason
            assert SECRET not in result


def test_other_metadata_are_refused_with_the_reason() -> None:
    good = certificate()
    assert refusal(metadata([good], role="SPSSODescriptor")).startswith(
        "has no IDPSSODescriptor: it describes a service"
    )
    assert refusal(metadata([good], role="Organization")).startswith("has no IDPSSODescriptor, so")
    assert refusal(group(metadata([good]), metadata([good]))).startswith("has 2 entities")
    assert refusal(group()).startswith("has 0 entities")
    assert refusal(metadata([good], entity_id="")) == "has no entityID"
    assert refusal(metadata([])) == "has no signing certificate"
    assert refusal(metadata([good], uses=["encryption"])) == "has no signing certificate"
    assert refusal(metadata([good], bindings=["SOAP"])) == "has no sign-in URL for HTTP-Redirect or HTTP-POST"
    assert refusal(metadata([good], url="javascript:alert(1)")).startswith("has a sign-in URL that is no web address")
    assert refusal(metadata([good], url="http://[x")).startswith("has a sign-in URL that is no web address")
    damaged = metadata([good]).replace(body(good), body(good)[:40])
    assert refusal(damaged).startswith("signing certificate 1 of 1 is not a")
    assert refusal("<a/>").startswith("is not SAML metadata")
    assert refusal("").startswith("is not valid XML")
    assert refusal(b"\xff\xfe\x00").startswith("is not valid XML")
    assert refusal('<?xml version="1.0" encoding="nowhere"?><a/>').startswith("is not valid XML")
    assert refusal(b" " * ((1 << 20) + 1)) == "is too large: at most 1 MB"


def test_deep_and_wide_metadata_are_handled_quickly() -> None:
    began = time.process_time()
    assert refusal("<a>" * 10_000 + "</a>" * 10_000).startswith("is not SAML metadata")
    wide = metadata([certificate()]).replace("<md:SingleSignOnService", "<a/>" * 20_000 + "<md:SingleSignOnService", 1)
    assert read_metadata(wide.encode())["entity_id"] == "urn:keys"
    assert time.process_time() - began < 2


def test_unreadable_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, told in (
        (tmp_path / "gone", "could not be read: No such file or directory"),
        (tmp_path, "is not a file"),
        (tmp_path / "pipe", "is not a file"),
        ("a\0b", "could not be read: embedded null byte"),
        ("~nobody-here/x", "could not be read: "),
    ):
        with pytest.raises(InvalidArgument) as error:
            SAML_METADATA.read_path(str(path))
        assert error.value.reason.startswith(told), path
