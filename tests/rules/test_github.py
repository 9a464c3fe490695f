"""Files for GitHub: the workflow, the issue forms, and the texts that GitHub shows."""

import tomllib
from typing import Any

import yaml
from tests.root import ROOT

GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PYTHON = "Programming Language :: Python :: 3."
# the element types of GitHub's schema of issue forms
TYPES = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def workflow_jobs() -> dict[str, Any]:
    return yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]


def test_workflow_runs_on_all_python_versions_and_systems() -> None:
    (job,) = workflow_jobs().values()
    versions = [line.removeprefix(PYTHON) for line in PROJECT["classifiers"] if line.startswith(PYTHON)]
    assert job["strategy"]["matrix"] == {
        "os": ["ubuntu-latest", "macos-latest"],
        "python": [f"3.{minor}" for minor in versions],
    }
    assert PROJECT["requires-python"] == f">=3.{versions[0]}"
    assert versions[-1] == "14"


def test_workflow_runs_the_ci_script_once_per_system() -> None:
    (job,) = workflow_jobs().values()
    runs = {step["if"]: step["run"] for step in job["steps"] if "run" in step}
    assert [*runs] == ["runner.os == 'Linux'", "runner.os != 'Linux'"]
    assert all(command.endswith("bash .ci/run") for command in runs.values())
    assert (ROOT / ".ci" / "run").is_file()


def test_issue_forms_are_valid() -> None:
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


def test_pull_request_template_and_security_policy_exist() -> None:
    assert "make test" in (GITHUB / "pull_request_template.md").read_text("utf-8")
    assert "## Reporting a vulnerability" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_contributing_has_its_main_sections_in_order() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings[:3] == ["Set up", "The loop", "Review"]
    assert headings[-1] == "Long and rare targets"
