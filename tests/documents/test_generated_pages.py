"""Pages generated from a specification: their places in a table of contents, and their content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.documents.api_pages import PETS
from tests.table import each_case

from presscheck.documents.git_format.repository import read_repository
from presscheck.documents.git_format.writer import repository_texts
from presscheck.documents.openapi.generated_pages import (
    MODELS,
    MOST_PAGES,
    TEXT,
    generated_slugs,
    with_generated_pages,
)
from presscheck.documents.openapi.specification import Specification, read_specification
from presscheck.documents.pages.tree import Page

SUMMARY = """# Table of contents

* [Start](README.md)
  * ```yaml
    type: builtin:openapi
    props:
      models: true
      downloadLink: true
    dependencies:
      spec:
        ref:
          kind: openapi
          spec: pets
    ```

## Reference

* ```yaml
  type: builtin:openapi
  dependencies: {spec: {ref: {kind: openapi, spec: other}}}
  ```
* ```yaml
  type: something:else
  ```
* [Last](last.md)
"""


def repository(folder: Path) -> Path:
    for name, text in {"SUMMARY.md": SUMMARY, "README.md": "# Start\n", "last.md": "# Last\n"}.items():
        (folder / name).write_text(text)
    return folder


def test_table_of_contents_names_the_places(tmp_path: Path) -> None:
    found = read_repository(repository(tmp_path))
    assert not found.findings
    kinds = [(page.kind, page.title) for page in found.walk()]
    assert kinds == [
        ("document", "Start"),
        ("computed", "pets"),
        ("group", "Reference"),
        ("computed", "other"),
        ("document", "Last"),
    ]
    place = found.pages[0].pages[0]
    assert place.details["computed"]["props"] == {"models": True, "downloadLink": True}


def test_export_has_the_same_places(tmp_path: Path) -> None:
    first = read_repository(repository(tmp_path))
    for name, text in repository_texts(first).items():
        (tmp_path / name).write_bytes(text)
    again = read_repository(tmp_path)
    assert [(page.kind, page.details) for page in again.walk()] == [(page.kind, page.details) for page in first.walk()]


def place(**props: Any) -> Page:
    reference = {"kind": "openapi", "spec": "pets"}
    source = {"type": "builtin:openapi", "props": props, "dependencies": {"spec": {"ref": reference}}}
    return {"id": "p", "type": "computed", "title": "pets", "computed": source}


def generated(document: dict[str, Any] | None = None, **props: Any) -> list[Page]:
    specification = Specification(document) if document else read_specification(PETS.read_bytes())
    return [*with_generated_pages([place(**props)], {"pets": specification}.get)]


def test_operations_are_grouped_by_tag() -> None:
    pages = generated(models=True)
    assert [page["title"] for page in pages] == ["Pets", "Owners", "Other", "Models"]
    assert pages[0][TEXT].startswith("Everything about **pets**.\n\n{% openapi-operation")
    assert pages[0][TEXT].count("{% openapi-operation") == 4 and "{% openapi-webhook" in pages[2][TEXT]
    assert pages[3][MODELS] == "pets" and 'schemas="Kind,Named,Pet,Owner,Dry,Wet,Problem"' in pages[3][TEXT]
    assert len({page["id"] for page in pages}) == 4 and pages[0]["slug"] == "pets"
    assert [page["title"] for page in generated(models=False)] == ["Pets", "Owners", "Other"]


def test_operations_have_pages_of_their_own_if_they_are_grouped_so() -> None:
    pets = generated(models=False, grouping="by-operation")[0]
    assert [page["title"] for page in pets["pages"]] == ["List pets", "Add a pet", "Remove a pet", "Upload a picture"]
    assert pets["pages"][1][TEXT] == '{% openapi-operation spec="pets" path="/pets" method="post" %}\n'
    assert pets[TEXT] == "Everything about **pets**."


def operations(*tags: str) -> dict[str, Any]:
    return {f"/{number}": {"get": {"tags": [tag]}} for number, tag in enumerate(tags)}


def test_tags_can_be_below_others_and_have_titles_of_their_own() -> None:
    tags = [
        {"name": "a", "x-page-title": "All of A", "x-page-description": "About A"},
        {"name": "b", "parent": "a"},
        {"name": "c", "parent": "d"},
        {"name": "d", "parent": "c"},
        {"name": "empty"},
    ]
    pages = generated({"openapi": "3.1.0", "tags": tags, "paths": operations("a", "b", "c", "d")})
    assert [(page["title"], [one["title"] for one in page["pages"]]) for page in pages] == [
        ("All of A", ["b"]),
        ("c", []),
        ("d", []),
    ]
    assert pages[0]["description"] == "About A"


def test_internal_operations_and_unusual_names_are_left_out() -> None:
    paths = {
        "/a": {"get": {"x-internal": True}, "post": {"x-gitbook-ignore": True}, "put": {"summary": "Put"}},
        '/" %}{% include "secret" %}': {"get": {}},
    }
    (page,) = generated({"openapi": "3.1.0", "paths": paths})
    assert page[TEXT] == '{% openapi-operation spec="pets" path="/a" method="put" %}\n'


def test_pages_are_limited_and_have_different_slugs() -> None:
    tags = [f"{'same' if number % 2 else 'SAME'}" for number in range(20)]
    slugs = [page["slug"] for page in generated({"openapi": "3.1.0", "paths": operations(*tags)})]
    assert len(set(slugs)) == len(slugs) == 2
    many = generated({"openapi": "3.1.0", "paths": operations(*["a"] * 2000)}, grouping="by-operation")
    assert len(many[0]["pages"]) == MOST_PAGES


def test_places_without_specification_stay() -> None:
    tree = [{"id": "a", "type": "document", "title": "A", "pages": [place()]}]
    assert generated_slugs(tree) == ["pets"]
    assert with_generated_pages(tree, lambda _: None)[0]["pages"][0]["type"] == "computed"


OTHERS = (None, {}, "x", {"type": "x"}, {"type": "builtin:openapi"}, {"type": "builtin:openapi", "dependencies": []})


@each_case("source", OTHERS)
def test_other_sources_are_ignored(source: Any) -> None:
    assert generated_slugs([{"id": "a", "type": "computed", "title": "A", "computed": source}]) == []
