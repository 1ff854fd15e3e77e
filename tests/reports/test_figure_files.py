"""Figures as text and as files: the same every time, and never half a file."""

import os
import re
import sys

import pytest

from nldd.displays import CriticalDifferenceDisplay
from nldd.displays._style import figure_class
from nldd.exceptions import InputError, MissingExtraError
from nldd.reports._figure_files import picture_width, save_figure, svg


def figure(name="NLDD"):
    return CriticalDifferenceDisplay([name, "BR"], [1.2, 1.8], [(0, 1)], "T").plot().figure_


def ids(text):
    return re.findall(r'\bid="([^"]*)"', text)


def test_equal_figures_give_equal_text():
    assert svg(figure()) == svg(figure())
    assert svg(figure()) != svg(figure("CBM"))


def test_text_is_one_element_without_date_comments_style_sheet_or_letters():
    text = svg(figure("--><b>NLDD"))
    assert text.startswith("<svg ") and text.endswith("</svg>")
    assert text.count("<svg") == 1
    for absent in ("<?", "<!", "<style", "<metadata", "<text", "NLDD", "atplotlib", "<b>"):
        assert absent not in text
    assert 'style="stroke-linejoin: round; stroke-linecap: butt"' in text[:200]
    assert picture_width(text) == pytest.approx(7.2 * 96)


def test_ids_begin_with_the_prefix_and_every_reference_has_one():
    text = svg(figure(), "ranks")
    assert len(ids(text)) == len(set(ids(text))) > 10
    assert all(name.startswith("ranks-") for name in ids(text))
    references = re.findall(r'(?:href="#|url\(#)([^")]*)', text)
    assert references
    assert set(references) <= set(ids(text))


def test_ids_of_different_figures_never_meet():
    first, second = ids(svg(figure())), ids(svg(figure("CBM")))
    assert not set(first) & set(second)


def test_a_picture_inside_a_figure_stays_a_picture():
    drawn = figure_class()()
    drawn.subplots().imshow([[0, 1], [1, 0]])
    text = svg(drawn, "image")
    assert 'xlink:href="data:image/png;base64,' in text
    assert picture_width(text) == pytest.approx(6.4 * 96)


def test_saved_files_are_whole_equal_and_alone(tmp_path):
    folder = tmp_path / "new" / "figures"
    vector, raster = save_figure(figure(), folder, "ranks.f-measure")
    assert sorted(path.name for path in folder.iterdir()) == [
        "ranks.f-measure.png",
        "ranks.f-measure.svg",
    ]
    assert vector.read_text() == (
        f'<?xml version="1.0" encoding="utf-8"?>\n{svg(figure(), "ranks.f-measure")}\n'
    )
    content = raster.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 7.2 * 150
    assert b"atplotlib" not in content
    save_figure(figure(), folder, "ranks.f-measure")
    assert raster.read_bytes() == content


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "ranks.svg").write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(figure(), tmp_path, "ranks")
    assert [path.name for path in tmp_path.iterdir()] == ["ranks.svg"]
    assert (tmp_path / "ranks.svg").read_text() == "old"


@pytest.mark.parametrize("key", ["", "../ranks", "a/b", ".hidden", "a b", "a\n"])
def test_keys_that_are_no_file_names_are_refused(key, tmp_path):
    with pytest.raises(InputError, match="key of a figure"):
        save_figure(figure(), tmp_path, key)
    assert list(tmp_path.iterdir()) == []


def test_figures_without_matplotlib_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"nldd\[plot\]"):
        figure()


def test_settings_of_the_user_are_left_as_they_were():
    from matplotlib import rcParams

    before = dict(rcParams)
    svg(figure())
    assert dict(rcParams) == before
