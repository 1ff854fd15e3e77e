"""Shares of codes in coded tables: what people decided, what was drawn, and what stands in."""

import numpy as np
import pytest

from coding.made_up import PHRASES, fitted, made_up, read_csv, write_csv
from nldd.coding.audit import draw_sample
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.frequencies import Basis, code_frequencies, rest_limits
from nldd.exceptions import InputError

HEADER = ["id", "answer", "nldd_codes", "nldd_status", "nldd_chance", "nldd_theta", "nldd_drawn"]
CODES = sorted(PHRASES)


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(80))


def make_coded(path, n=300, seed=0):
    """A coded table with errors of the machine, the last third of it for people; and the truth."""
    rng = np.random.default_rng(seed)
    texts, truth = made_up(n, seed + 1)
    machine = [codes ^ {str(rng.choice(CODES))} if rng.random() < 0.3 else codes for codes in truth]
    drawn = set(rng.choice(n, 90, replace=False).tolist())
    rows = []
    for i, (text, codes) in enumerate(zip(texts, machine, strict=True)):
        status, theta = ("auto", 0.001) if i < 2 * n // 3 else ("review", 0.2)
        marks = (status, "", theta, "yes" if i in drawn else "no")
        rows.append([f"p{i}", text, ";".join(sorted(codes)), *marks])
    return write_csv(path, HEADER, rows), rows, machine, truth, drawn


def write_review(path, rows, truth, places):
    """A review in which people have coded some of the answers."""
    given = [";".join(sorted(truth[i])) if i in places else "" for i in range(len(rows))]
    found = [[*row, codes] for row, codes in zip(rows, given, strict=True)]
    return write_csv(path, [*HEADER, "codes"], found)


def naive_share(code, parts, machine, truth, n):
    """The corrected share and its limits, for one code; parts are the rest and its sample."""
    total, below, above = 0.0, 0.0, 0.0
    known = set(range(n)) - {i for rest, _ in parts for i in rest}
    for rest, sample in parts:
        for given in (True, False):
            here = [i for i in rest if (code in machine[i]) == given]
            like = [i for i in sample if (code in machine[i]) == given]
            found = sum(code in truth[i] for i in like)
            value = found / len(like) * len(here)
            low, high = rest_limits(*(np.array([v]) for v in (found, len(like), len(here))))
            total, below = total + value, below + (value - low[0]) ** 2
            above += (high[0] - value) ** 2
    base = sum(code in truth[i] for i in known)
    limits = (np.floor(total - np.sqrt(below)), np.ceil(total + np.sqrt(above)))
    return [(base + x) / n for x in (total, *limits)]


def test_drawn_answers_correct_the_rest_of_their_part(model, tmp_path):
    path, rows, machine, truth, drawn = make_coded(tmp_path / "coded.csv")
    review = write_review(tmp_path / "review.csv", rows, truth, drawn)
    found = code_frequencies(model, path, [review])
    statuses = {"auto": range(200), "review": range(200, 300)}
    parts = [(sorted({*part} - drawn), sorted({*part} & drawn)) for part in statuses.values()]
    assert (found.n_answers, found.n_people) == (300, 90)
    each = zip(statuses, parts, strict=True)
    assert found.basis == tuple(Basis(n, len(rest), len(s), "checked") for n, (rest, s) in each)
    for share in found.codes:
        expected = naive_share(share.code, parts, machine, truth, 300)
        assert [share.share, share.low, share.high] == pytest.approx(expected)
        raw = [(truth if i in drawn else machine)[i] for i in range(300)]
        assert share.raw == sum(share.code in codes for codes in raw) / 300
        assert share.bias == pytest.approx(share.raw - share.share)


def test_audit_is_a_sample_of_the_automatic_codes(model, tmp_path):
    path, _, machine, truth, _ = make_coded(tmp_path / "coded.csv")
    draw_sample(path, tmp_path / "sample.csv", 60, random_state=1)
    header, cells = read_csv(tmp_path / "sample.csv")
    sample = [int(row[0][1:]) for row in cells]
    check = header.index("nldd_check")
    for row, i in zip(cells, sample, strict=True):
        row[check] = "yes" if machine[i] == truth[i] else "no"
        row.append("" if machine[i] == truth[i] else ";".join(sorted(truth[i])) or "-")
    name = "nldd_right_codes"
    both = [[*row[: check + 1], row[-1]] for row in cells]
    checked = write_csv(tmp_path / "sample.csv", [*header[: check + 1], name], both)
    found = code_frequencies(model, path, [checked])
    assert found.n_people == 60
    assert found.basis[0] == Basis("auto", 140, 60, "checked", n_open=found.basis[0].n_open)
    assert found.basis[1].source == "model"
    # As far as the automatic part goes, it is the naive estimate; the rest stands in the second.
    with_people = write_review(tmp_path / "review.csv", read_csv(path)[1], truth, range(200, 300))
    found = code_frequencies(model, path, [checked, with_people])
    rest = [i for i in range(200) if i not in sample]
    for share in found.codes:
        expected = naive_share(share.code, [(rest, sample)], machine, truth, 300)
        assert [share.share, share.low, share.high] == pytest.approx(expected)


def test_what_people_coded_counts_as_it_is(model, tmp_path):
    path, rows, machine, truth, _ = make_coded(tmp_path / "coded.csv")
    review = write_review(tmp_path / "review.csv", rows, truth, range(300))
    found = code_frequencies(model, path, [review])
    # People had coded them all before: in the column of codes.
    write_csv(path, HEADER, [[*r[:3], "coded", *r[4:]] for r in rows])
    for given, shares in ((truth, found), (machine, code_frequencies(model, path))):
        assert (shares.basis, shares.n_people) == ((), 300)
        for share in shares.codes:
            counted = sum(share.code in codes for codes in given) / 300
            assert share.share == share.low == share.high == share.raw == counted


def test_answers_that_people_picked_are_no_sample(model, tmp_path):
    path, rows, _, truth, drawn = make_coded(tmp_path / "coded.csv")
    picked = [i for i in range(200, 300) if i not in drawn][:30]
    review = write_review(tmp_path / "review.csv", rows, truth, picked)
    auto, left = code_frequencies(model, path, [review]).basis
    assert (auto.source, left.source) == ("model", "model")
    assert (left.n_rest, left.n_chosen) == (70, 30)
    assert left.n_open == sum(i in drawn for i in range(200, 300))


def test_answers_of_the_model_stand_in_for_what_nobody_checked(model, tmp_path):
    path, rows, machine, _, _ = make_coded(tmp_path / "coded.csv")
    limit = float(np.quantile(model.evidence.theta, 0.6))
    told = [[*row[:5], limit if i < 200 else 1, "no"] for i, row in enumerate(rows)]
    write_csv(path, HEADER, told)
    found = code_frequencies(model, path)
    # The ones about which it was as sure as about automatic codes of the table.
    sure = model.evidence.theta <= limit
    sizes = [int(sure.sum()), int((~sure).sum())]
    expected = [("model", 200, sizes[0]), ("model", 100, sizes[1])]
    assert [(b.source, b.n_rest, b.n_checked) for b in found.basis] == expected
    assert sizes == [48, 32]
    shares = {share.code: share for share in found.codes}
    for j, code in enumerate(model.labels):
        total = 0.0
        for part, like in ((range(200), sure), (range(200, 300), ~sure)):
            for given in (0, 1):
                n_here = sum((code in machine[i]) == given for i in part)
                rows = like & (model.evidence.Y[:, j] == given)
                total += n_here * model.Y[rows, j].mean() if rows.any() else n_here * given
        assert shares[code].share == pytest.approx(total / 300)


def test_empty_rows_are_no_answers_unless_people_coded_them(model, tmp_path):
    path, rows, _, truth, drawn = make_coded(tmp_path / "coded.csv")
    for i in (298, 299):
        rows[i][1] = " "
    write_csv(path, HEADER, rows)
    review = write_review(tmp_path / "review.csv", rows, truth, {*drawn, 299} - {298})
    found = code_frequencies(model, path, [review])
    assert (found.n_answers, found.n_empty) == (299, 1)


def test_equal_answers_are_matched_one_to_one(model, tmp_path):
    rows = [["more buses", "bus", "auto", "", 0.001] for _ in range(4)]
    rows.append(["lower the rent", "rent", "auto", "", 0.001])
    header = ["answer", *HEADER[2:6]]
    path = write_csv(tmp_path / "coded.csv", header, rows)
    checked = [[*row, "no", "park"] for row in rows[:3]]
    sample = write_csv(tmp_path / "a.csv", [*header, "nldd_check", "codes"], checked)
    found = {share.code: share for share in code_frequencies(model, path, [sample]).codes}
    # Three of the four are checked. All of these lack "park", as both others may do.
    assert (found["park"].n_people, found["bus"].n_machine) == (3, 1)
    assert (found["park"].share, found["bus"].share, found["rent"].share) == (1, 0, 0.2)


def test_codes_that_are_new_to_the_model_have_shares(model, tmp_path):
    path, rows, _, truth, drawn = make_coded(tmp_path / "coded.csv")
    truth = [{"noise"} if i in drawn else codes for i, codes in enumerate(truth)]
    found = code_frequencies(model, path, [write_review(tmp_path / "r.csv", rows, truth, drawn)])
    assert found.codes[0].code == "noise"
    assert found.codes[0].share == pytest.approx(1.0)
    assert any("'noise'" in note for note in found.notes)


def refuse(*arguments):
    with pytest.raises(InputError) as error:
        code_frequencies(*arguments)
    assert error.value.hint
    return str(error.value)


def test_tables_that_do_not_belong_together_are_refused(model, tmp_path):
    path, rows, _, truth, drawn = make_coded(tmp_path / "coded.csv")
    other = write_csv(tmp_path / "new.csv", ["id", "answer"], [["p1", "buses"]])
    assert "no column 'nldd_status'" in refuse(model, other)
    rows[min(drawn)][1] = "something else"
    review = write_review(tmp_path / "review.csv", rows, truth, drawn)
    assert f"review.csv, row {min(drawn) + 1}: coded.csv" in refuse(model, path, [review])
    assert "no answers" in refuse(model, write_csv(path, HEADER, []), [review])


def test_of_equal_answers_the_drawn_one_is_decided(model, tmp_path):
    marks = [("review", "no"), ("review", "no"), ("review", "yes"), ("coded", "no")]
    header = HEADER[1:]
    rows = [["more buses", "bus", status, "", 0.2, drawn] for status, drawn in marks]
    cells = [[*row, "rent" if row[2] == "coded" else ""] for row in rows]
    path = write_csv(tmp_path / "coded.csv", [*header, "codes"], cells)
    review = write_csv(tmp_path / "r.csv", [*header, "codes"], [[*rows[2], "park"]])
    (left,) = code_frequencies(model, path, [review]).basis
    # The sample has the one that was drawn; before, none of it was coded.
    assert left == Basis("review", 2, 1, "checked")
    write_csv(review, [*header, "codes"], [[*rows[i], "park"] for i in (0, 1, 2)])
    found = {share.code: share.n_people for share in code_frequencies(model, path, [review]).codes}
    assert (found["park"], found["rent"]) == (3, 1)


def test_rows_of_a_sample_that_nobody_checked_are_open(model, tmp_path):
    path, rows, *_ = make_coded(tmp_path / "coded.csv")
    plain = [[*row[:6], "no"] for row in rows]
    write_csv(path, HEADER, plain)
    checked = [[*row, "yes" if i < 7 else ""] for i, row in enumerate(plain[:10])]
    sample = write_csv(tmp_path / "a.csv", [*HEADER, "nldd_check"], checked)
    auto, _ = code_frequencies(model, path, [sample]).basis
    assert auto == Basis("auto", 193, 7, "checked", n_open=3)


def test_names_of_columns_may_hold_the_separator(tmp_path):
    texts, codes = made_up(60)
    named = [{f"q;{name}" for name in names} for names in codes]
    marks = Columns(("answer",), CodeColumns(tuple(f"q;{name}" for name in CODES), separator=""))
    model = fitted(texts, named, marks)
    header = ["answer", *HEADER[2:6], *(f"nldd_q;{name}" for name in CODES)]
    rows = [["more buses", "q;bus", "auto", "", 0.001, 1, 0, 0]] * 3
    rows.append(["cheaper rent, more buses", "q;bus;q;rent", "auto", "", 0.001, 1, 0, 1])
    path = write_csv(tmp_path / "coded.csv", header, rows)
    found = {share.code: share.n_machine for share in code_frequencies(model, path).codes}
    assert found == {"q;bus": 4, "q;park": 0, "q;rent": 1}


def test_marks_and_right_codes_that_disagree_are_refused(model, tmp_path):
    path, rows, machine, *_ = make_coded(tmp_path / "coded.csv")
    header, same = [*HEADER, "nldd_check", "nldd_right_codes"], ";".join(sorted(machine[0])[::-1])
    for marks in ([("yes", same), ("yes", "noise")], [("yes", same), ("no", "")]):
        checked = [[*row, *mark] for row, mark in zip(rows, marks, strict=False)]
        sample = write_csv(tmp_path / "a.csv", header, checked)
        assert "a.csv, row 2, column 'nldd_check'" in refuse(model, path, [sample])
    write_csv(sample, header, checked[:1])
    assert code_frequencies(model, path, [sample]).n_people == 1
