"""The manual lists exactly the operations of the newest release that the service does not have."""

import json
import re

from tests.contract.description import FACTS
from tests.root import ROOT

from presscheck.api.operation import every_operation

PAGE = ROOT / "docs" / "hosting" / "not-served.md"


def test_operations_are_served_or_listed_with_a_reason() -> None:
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    listed = [name for _, names, *_ in rows for name in re.findall(r"`(\w+)`", names)]
    assert len(listed) == len(set(listed))
    newest = set(json.loads((FACTS / "newest_operations.json").read_text("utf-8")))
    served = {operation.operation_id for operation in every_operation()}
    assert set(listed) == newest - served
    assert all(reason.strip() for _, _, reason, _ in rows)
