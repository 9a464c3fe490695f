"""YAML of users creates only plain values: tags run no code and open no files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bait import SECRET, Bait

from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.engine.site_config.yaml_text import yaml_lines

TAGS = (
    'a: !!python/object/apply:urllib.request.urlopen ["{0}"]',
    'a: !!python/object/apply:builtins.open ["{0}"]',
    'a: !!python/object/apply:pathlib.Path.read_text [!!python/object/apply:pathlib.Path ["{0}"]]',
    'a: !!python/object/new:pathlib.Path {{args: ["{0}"]}}',
    'a: !!python/object/apply:os.system ["cat {0} > {1}"]',
    "a: !!python/name:os.system",
    "a: !!python/module:antigravity",
    'a: !include "{0}"',
    'a: !<{0}> "x"',
    "%TAG ! {0}\n---\na: !x y",
)


@pytest.mark.parametrize("text", TAGS)
def test_tags_open_no_file_and_no_url(bait: Bait, tmp_path: Path, text: str) -> None:
    written = tmp_path / "written"
    for address in bait.addresses:
        with pytest.raises(InvalidYaml) as error:
            load_yaml_value(text.format(address, written))
        assert SECRET not in str(error.value)
        yaml_lines(text.format(address, written))
    assert not written.exists()
