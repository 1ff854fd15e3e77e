"""Models that change keep their predecessors, and a step back brings these back."""

import errno
import os
import signal
from itertools import count

import pytest

from coding.made_up import fitted, made_up
from nldd.coding.model_file import load_coding_model, replace_model, save_coding_model, undo_model
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(scope="module")
def models():
    """Three models that differ in their history alone."""
    found = [fitted(*made_up(30)).record("fit", "answers.csv", "0" * 64, 30, 0)]
    for number in range(1, 3):
        found.append(found[-1].record("update", f"more{number}.csv", str(number) * 64, number, 0))
    return found


@pytest.fixture
def path(models, tmp_path):
    save_coding_model(models[0], tmp_path / "model.nldd")
    return tmp_path / "model.nldd"


def kept(path):
    """The number of updates of the model and of all that is kept, by name."""
    found = (other for other in path.parent.iterdir() if not other.name.endswith(".lock"))
    return {other.name[11:]: len(load_coding_model(other).history) - 1 for other in found}


def test_the_last_predecessor_is_kept_and_swapped_with_the_model(models, path):
    for model in models[1:]:
        assert replace_model(model, path) == path.with_name("model.nldd.bak")
    assert kept(path) == {"": 2, "bak": 1}
    undone = undo_model(path)
    assert kept(path) == {"": 1, "bak": 2}
    assert [event.file for event in undone.taken_back] == ["more2.csv"]
    assert (undone.came_back, undone.kept.name) == ((), "model.nldd.bak")
    again = undo_model(path)
    assert kept(path) == {"": 2, "bak": 1}
    assert ([event.file for event in again.came_back], again.taken_back) == (["more2.csv"], ())
    path.with_name("model.nldd.bak").unlink()
    with pytest.raises(InputError, match=r"no predecessor model\.nldd\.bak"):
        undo_model(path)


def test_a_file_system_without_second_names_gets_copies(models, path, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    before = path.read_bytes()
    monkeypatch.setattr(os, "link", no_links)
    assert replace_model(models[1], path).read_bytes() == before
    assert kept(path) == {"": 1, "bak": 0}


def test_a_disk_that_is_full_leaves_the_model_and_nothing_else(models, path, monkeypatch):
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for names in (("link", "fsync"), ("fsync",)):  # while it is copied, and while it is saved
        with monkeypatch.context() as patch:
            for name in names:
                patch.setattr(os, name, full)
            with pytest.raises(OSError, match="No space left on device") as error:
                replace_model(models[1], path)
        assert error.value.filename in (str(path), f"{path.parent}/.model.nldd.spare", None)
        assert [other.name for other in path.parent.iterdir()] == ["model.nldd"]
        assert path.read_bytes() == before


def kill_at(nth, real):
    """A function that ends its process when it is called for the nth time."""
    calls = count()

    def call(*arguments, **named):
        if next(calls) == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)

    return call


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("nth", range(3))
@pytest.mark.parametrize("step", ["link", "replace", "unlink"])
def test_killed_at_any_step_leaves_the_model_old_or_new(models, path, step, nth):
    """And what can be undone is never the model itself."""
    replace_model(models[1], path)
    changes = (lambda: replace_model(models[2], path), lambda: undo_model(path))
    for first, change in enumerate(changes, 1):
        child = os.fork()
        if child == 0:
            setattr(os, step, kill_at(nth, getattr(os, step)))
            change()
            os._exit(0)
        os.waitpid(child, 0)
        now = len(load_coding_model(path).history) - 1
        assert now in (first - 1, first, first + 1)
        replace_model(models[2], path)
        undo_model(path)
        undo_model(path)
        assert len(load_coding_model(path).history) - 1 == 2


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_a_model_is_followed(models, path):
    link = path.with_name("link.nldd")
    link.symlink_to(path)
    assert replace_model(models[1], link) == path.with_name("model.nldd.bak")
    assert link.is_symlink()
    assert undo_model(link).n_answers == 30


def test_a_predecessor_that_is_no_model_does_not_come_back(path):
    path.with_name("model.nldd.bak").write_text("somebody's notes")
    with pytest.raises(InputError, match="not a model of nldd"):
        undo_model(path)
    assert len(load_coding_model(path).history) == 1
