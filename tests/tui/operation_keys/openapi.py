"""OpenAPI specifications."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.openapi import (
    PutOpenAPISpec,
)

FAMILY = Family(
    without_keys={
        PutOpenAPISpec: "the form of a new specification sends CreateOpenAPISpec, and no key replaces one by its slug",
    }
)
