"""What GitHub reads: the workflow, the forms for issues, and the texts that it shows."""

import tomllib
from typing import Any

import yaml
from tests.root import ROOT

GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PYTHON = "Programming Language :: Python :: 3."
# of the schema of issue forms
TYPES = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def workflow_jobs() -> dict[str, Any]:
    return yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]


def test_the_workflow_runs_on_the_pythons_of_the_classifiers_and_on_both_systems() -> None:
    (job,) = workflow_jobs().values()
    named = [line.removeprefix(PYTHON) for line in PROJECT["classifiers"] if line.startswith(PYTHON)]
    assert job["strategy"]["matrix"] == {
        "os": ["ubuntu-latest", "macos-latest"],
        "python": [f"3.{minor}" for minor in named],
    }
    assert PROJECT["requires-python"] == f">=3.{named[0]}"
    assert named[-1] == "14"


def test_the_workflow_runs_the_script_that_decides_once_on_each_system() -> None:
    (job,) = workflow_jobs().values()
    runs = {step["if"]: step["run"] for step in job["steps"] if "run" in step}
    assert [*runs] == ["runner.os == 'Linux'", "runner.os != 'Linux'"]
    assert all(command.endswith("bash .ci/run") for command in runs.values())
    assert (ROOT / ".ci" / "run").is_file()


def test_forms_for_issues_have_what_github_requires() -> None:
    forms = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (GITHUB / "ISSUE_TEMPLATE").iterdir()}
    assert forms.pop("config.yml") == {"blank_issues_enabled": True}
    assert {*forms} == {"bug.yml", "idea.yml"}
    for form in forms.values():
        assert form["name"]
        assert form["description"]
        ids = [part["id"] for part in form["body"]]
        assert len({*ids}) == len(ids)
        assert {part["type"] for part in form["body"]} <= TYPES
        assert all(part["attributes"]["label"] for part in form["body"])


def test_a_pull_request_has_a_template_and_security_says_where_to_report() -> None:
    assert "make test" in (GITHUB / "pull_request_template.md").read_text("utf-8")
    assert "## Reporting a vulnerability" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_contributing_begins_with_set_up_loop_and_review_and_ends_with_the_long_targets() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings[:3] == ["Set up", "The loop", "Review"]
    assert headings[-1] == "Long and rare targets"
