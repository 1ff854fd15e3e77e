"""Memory that stays in proportion to the file, whatever the file claims."""

import tracemalloc

import pytest
from scipy.sparse import issparse

import paper_data
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_dataset
from nldd.bench.datasets.source import read_label_names
from nldd.exceptions import InputError

MEGABYTE = 1_000_000


def attributes(n, kind):
    return "".join(f"@attribute a{j} {kind}\n" for j in range(n))


N = 3_000
WIDE = ",".join(map(str, range(N)))
BOMBS = {
    # What the rows leave out would be N * N cells.
    "labels": f"@relation 'r: -C {N}'\n{attributes(N + 1, '{0,1}')}@data\n" + "{}\n" * N,
    "first values": f"@relation 'r: -C 1'\n{attributes(N, '{1,0}')}@data\n" + "{}\n" * N,
    # One column a value.
    "dense": f"@relation '-C 1'\n@attribute y {{0,1}}\n@attribute a {{{WIDE}}}\n@data\n"
    + "0,7\n" * N,
    "missing": f"@relation '-C 1'\n@attribute y {{0,1}}\n@attribute a {{{WIDE}}}\n@data\n"
    + "{1 ?}\n" * N,
}


def peak_of(call):
    """What `call` returns, and the most memory that it held meanwhile, in bytes."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("bomb", BOMBS)
def test_arff_bombs_are_refused(tmp_path, bomb):
    path = tmp_path / "file.arff"
    path.write_text(BOMBS[bomb])
    found, peak = peak_of(lambda: refusal(lambda: load_dataset(path)))
    assert "would take" in found
    assert peak < 20 * MEGABYTE


def test_sparse_file_of_many_rows_and_columns_stays_sparse(tmp_path):
    path = tmp_path / "file.arff"
    path.write_text(f"{attributes(N, '{0,1}')}@data\n" + "{}\n" * (N - 1) + f"{{{N - 1} 1}}\n")
    dataset, peak = peak_of(lambda: load_dataset(path, labels=1))
    assert (dataset.X.shape, dataset.X.nnz, dataset.X[N - 1, N - 2]) == ((N, N - 1), 1, 1)
    # Dense it would be 72 megabytes.
    assert peak < 20 * MEGABYTE


def test_deep_xml_is_read_without_a_tree(tmp_path):
    path = tmp_path / "file.xml"
    opened = "".join(f"<label name='{j}'>" for j in range(20_000))
    path.write_text(f"<labels>{opened}{'</label>' * 20_000}</labels>")
    names, peak = peak_of(lambda: read_label_names(path))
    assert names == [str(j) for j in range(20_000)]
    assert peak < 20 * MEGABYTE


def test_long_lines_are_refused_in_one_pass(load):
    """Each of these takes minutes where a line is searched again from every character."""
    header = "@attribute y {0,1}\n@attribute x real\n@data\n"
    n = 300_000
    for row in ["1," + " " * n + "x", "1,'" + "\\'" * n, "{" * n, "1,'" + "a" * n, "{0" + " " * n]:
        assert "line 4" in refusal(lambda row=row: load(header + row, labels=1))
    for line in ["@attribute 'a" + " " * n, "@attribute a {a" + " " * n, "@data" + " " * n + "x"]:
        assert "line 1" in refusal(lambda line=line: load(line, labels=1))


@pytest.mark.parametrize(("count", "row"), [("9{}", "1,2"), ("1", "1,9{}"), ("1", "{{9{} 1}}")])
def test_numbers_of_thousands_of_digits_are_refused(load, count, row):
    header = f"@relation 'r: -C {count}'\n@attribute y {{{{0,1}}}}\n@attribute x real\n@data\n"
    assert "line " in refusal(lambda: load((header + row).format("9" * 5000)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bibtex", "tmc2007"])
def test_large_sparse_data_sets_take_little_memory(name):
    if not all((paper_data.FOLDER / file.file).exists() for file in CATALOGUE[name].files):
        pytest.skip(f"needs the files of {name}: put them in a folder and set NLDD_DATA")
    dataset, peak = peak_of(lambda: load_dataset(name, data_dir=paper_data.FOLDER))
    assert issparse(dataset.X)
    assert peak < 100 * MEGABYTE
