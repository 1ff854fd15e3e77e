"""What `make dist` writes: the same bytes each time, what belongs into it, and a bill of materials."""

import json
import shutil
from hashlib import sha256
from zipfile import ZIP_DEFLATED, ZipFile

import contents
import pytest
from dependencies import EXTRAS, pins, reached
from make_dist import build, commit_time

from nldd import __version__


@pytest.fixture(scope="module")
def bill(built):
    (path,) = built.glob("*.cdx.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_second_build_gives_the_same_bytes(built, wheel, tmp_path):
    """And so does one from the files themselves, where the first went by the sdist."""
    build(tmp_path, commit_time(), "--sdist")
    build(tmp_path, commit_time(), "--wheel")
    (sdist,) = built.glob("*.tar.gz")
    for path in (sdist, wheel):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_a_file_that_does_not_belong_is_found(wheel, tmp_path):
    spoilt = tmp_path / wheel.name
    shutil.copy(wheel, spoilt)
    assert list(contents.wheel_problems(spoilt)) == []
    with ZipFile(spoilt, "a") as archive:
        archive.writestr("tests/test_nothing.py", "")
    (problem,) = contents.wheel_problems(spoilt)
    assert problem == f"{wheel.name} holds what it should not: tests/test_nothing.py"


def test_a_file_that_is_missing_is_found(wheel, tmp_path):
    spoilt = tmp_path / wheel.name
    with ZipFile(wheel) as whole, ZipFile(spoilt, "w", ZIP_DEFLATED) as archive:
        for name in whole.namelist():
            if name != "nldd/py.typed":
                archive.writestr(name, whole.read(name))
    assert list(contents.wheel_problems(spoilt)) == [f"{wheel.name} lacks: nldd/py.typed"]


def test_size_is_limited(wheel, monkeypatch):
    assert list(contents.size_problems(wheel)) == []
    monkeypatch.setitem(contents.MOST_BYTES, ".whl", wheel.stat().st_size - 1)
    (problem,) = contents.size_problems(wheel)
    assert problem.startswith(f"{wheel.name} has ")


def test_long_description_has_no_link_that_leads_nowhere(wheel):
    about = contents.metadata(wheel)
    assert about["Description-Content-Type"] == "text/markdown"
    assert list(contents.readme_problems(about)) == []
    about.set_payload(about.get_payload() + "\n[page](docs/nldd.md)\n")
    (problem,) = contents.readme_problems(about)
    assert "docs/nldd.md" in problem


def test_bill_names_the_wheel_and_every_package_as_tested(bill, wheel):
    ours = bill["metadata"]["component"]
    assert ours["purl"] == f"pkg:pypi/nldd@{__version__}"
    assert ours["hashes"] == [{"alg": "SHA-256", "content": sha256(wheel.read_bytes()).hexdigest()}]
    wanted = set().union(*(reached(extra) for extra in EXTRAS))
    assert {each["purl"] for each in bill["components"]} == {
        f"pkg:pypi/{name}@{pins()[name]}" for name in wanted
    }
    assert all(each["licenses"] for each in bill["components"])
    needs = {each["ref"]: each.get("dependsOn", ()) for each in bill["dependencies"]}
    found, waiting = set(), [ours["bom-ref"]]
    while waiting:
        if (ref := waiting.pop()) not in found:
            found.add(ref)
            waiting += needs[ref]
    assert found == {ours["bom-ref"], *(each["bom-ref"] for each in bill["components"])}


def test_bill_has_no_path_of_a_machine(built):
    (path,) = built.glob("*.cdx.json")
    text = path.read_text(encoding="utf-8")
    assert str(contents.ROOT) not in text
    assert "site-packages" not in text
