"""Addresses as they are shown: without the key of a site that is shared by link."""

from tests.table import each_case

from presscheck.api.sites import Site, SiteUrls
from presscheck.engine.publish.shown_addresses import key_in, shown_address, without_key

OWN = "http://127.0.0.1:8300/docs/s1/kEy-kEy-kEy-1/"


@each_case(
    ("visibility", "address", "shown"),
    [
        ("share-link", OWN, "http://127.0.0.1:8300/docs/s1/…/"),
        ("share-link", f"{OWN}guides/kEy-kEy-kEy-12", "http://127.0.0.1:8300/docs/s1/…/guides/kEy-kEy-kEy-12"),
        ("share-link", None, ""),
        ("unlisted", OWN, OWN),
    ],
)
def test_the_key_of_the_site_is_left_out_wherever_it_stands(visibility: str, address: str | None, shown: str) -> None:
    site = Site(id="s1", visibility=visibility, urls=SiteUrls(published=OWN))
    assert shown_address(site, address) == shown


def test_a_short_last_part_is_no_key() -> None:
    assert key_in("https://docs.example/guides/") == ""
    assert without_key("https://docs.example/guides/") == "https://docs.example/guides/"
    assert without_key("https://docs.example/kEy-kEy-kEy-1") == "https://docs.example/…"
    assert without_key(None) == ""
