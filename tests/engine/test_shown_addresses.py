"""Displayed addresses, which hide the share key of a site."""

from tests.table import each_case

from presscheck.api.sites import Site, SiteUrls
from presscheck.engine.publish.shown_addresses import hide_keys, key_in, shown_address, shown_page, without_key

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
def test_share_key_of_a_site_is_hidden(visibility: str, address: str | None, shown: str) -> None:
    site = Site(id="s1", visibility=visibility, urls=SiteUrls(published=OWN))
    assert shown_address(site, address) == shown


def test_short_last_part_is_not_a_key() -> None:
    assert key_in("https://docs.example/guides/") == ""
    assert without_key("https://docs.example/guides/") == "https://docs.example/guides/"
    assert without_key("https://docs.example/kEy-kEy-kEy-1") == "https://docs.example/…"
    assert without_key(None) == ""


KEY, OTHER = "-46QlXINWBoZVcs4", "Qvx_zYxjY5NK2H77"


@each_case(
    ("visibility", "published", "address", "shown"),
    [
        ("share-link", f"/docs/s1/{KEY}/", f"/docs/s1/{OTHER}/guide/", "/docs/s1/…/guide/"),
        ("share-link", "/docs/s1/short-key/", "/docs/s1/other-key/guide/", "/docs/s1/…/guide/"),
        ("share-link", f"/{KEY}/", f"/docs/s1/{OTHER}/guide/", "/…/s1/…/guide/"),
        ("share-link", None, f"/docs/s1/{OTHER}/guide/", "/docs/s1/…/guide/"),
        ("public", "/docs/s1/", f"/docs/s1/{OTHER}/guide/", "/docs/s1/…/guide/"),
        ("public", "/docs/s1/", "/docs/s1/install-on-ubuntu-24/", "/docs/s1/install-on-ubuntu-24/"),
    ],
)
def test_address_of_a_visited_page_hides_the_share_key(
    visibility: str, published: str | None, address: str, shown: str
) -> None:
    top = "https://docs.example"
    site = Site(id="s1", visibility=visibility, urls=SiteUrls(published=published and top + published))
    assert shown_page(site, top + address) == top + shown


def test_response_hides_share_keys() -> None:
    address = f"https://docs.example/{KEY}/guides/"
    response = {
        "id": KEY,
        "basePath": f"/{KEY}/",
        "published": True,
        "spaces": [{"urls": {"published": address, "app": address}}],
        "columns": [{"column": "url", "values": [address]}, {"column": "eventsCount", "values": [2]}],
    }
    assert hide_keys(response) == {
        "id": KEY,
        "basePath": "/…/",
        "published": True,
        "spaces": [{"urls": {"published": "https://docs.example/…/guides/", "app": address}}],
        "columns": [{"column": "url", "values": ["https://docs.example/…/guides/"]}, response["columns"][1]],
    }
