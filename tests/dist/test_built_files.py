"""What `make dist` writes: the same bytes each time, the right files, a bill of materials."""

import json
from hashlib import sha256
from zipfile import ZipFile

import pytest

import contents
from dependencies import EXTRAS, pins, reached
from make_dist import build, commit_time
from nldd import __version__


def test_a_second_build_gives_the_same_bytes(built, wheel, tmp_path):
    """And so does one from the files themselves, where the first went by the sdist."""
    build(tmp_path, commit_time(), "--sdist")
    build(tmp_path, commit_time(), "--wheel")
    (sdist,) = built.glob("*.tar.gz")
    for path in (sdist, wheel):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "left_out"),
    [("tests/test_nothing.py", "", None), (None, None, "nldd/py.typed")],
    ids=["does not belong", "missing"],
)
def test_a_file_that_does_not_belong_or_is_missing_is_found(
    wheel, tmp_path, name, content, left_out
):
    assert list(contents.wheel_problems(wheel)) == []
    spoilt = tmp_path / wheel.name
    with ZipFile(wheel) as whole, ZipFile(spoilt, "w") as archive:
        for member in set(whole.namelist()) - {left_out}:
            archive.writestr(member, whole.read(member))
        if name:
            archive.writestr(name, content)
    (problem,) = contents.wheel_problems(spoilt)
    assert (name or left_out) in problem


def test_the_long_description_has_no_link_that_leads_nowhere(wheel):
    about = contents.metadata(wheel)
    assert list(contents.readme_problems(about)) == []
    about.set_payload(about.get_payload() + "\n[page](docs/nldd.md)\n")
    (problem,) = contents.readme_problems(about)
    assert "docs/nldd.md" in problem


def test_the_bill_names_the_wheel_and_every_package_as_tested(built, wheel):
    (path,) = built.glob("*.cdx.json")
    text = path.read_text(encoding="utf-8")
    assert str(contents.ROOT) not in text
    bill = json.loads(text)
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
