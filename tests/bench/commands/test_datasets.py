"""``nldd datasets`` list, info, table and export as people call them."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pooch.core
import pytest

from nldd import cli
from nldd.bench.datasets.catalogue import CATALOGUE
from paper_data import FOLDER

MUSIC = "tempo,label_sad,label_calm\n90,1,1\n120,0,1\n,0,0\n80,1,1\n"

needs_paper = pytest.mark.skipif(
    not (FOLDER / "emotions.arff").exists(), reason="needs the paper's files: set NLDD_DATA"
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """An empty data folder, and a toy data set in the catalogue."""
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NLDD_MIRROR", raising=False)
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    return tmp_path / "data"


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    code = cli.run(["datasets", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_list_is_a_table_in_the_order_of_the_paper(capsys, own_folder):
    code, out, err = run(capsys, "list")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "name      domain    rows  features  labels  cardinality  labelsets  here"
    assert lines[1] == "emotions  music      593        72       6         1.87         27  no"
    assert (
        lines[3] == "yeast     biology   2417       103      14         4.24        198  with nldd"
    )
    assert [line.split()[0] for line in lines[1:]] == list(CATALOGUE)
    assert f"Files are kept in {own_folder}. Get them by: nldd datasets fetch NAME" in err


@needs_paper
def test_list_says_what_is_here(capsys):
    code, out, err = run(capsys, "list", "--data-dir", FOLDER)
    assert code == 0
    assert [line.split()[-1] for line in out.splitlines()[1:]] == ["yes"] * 9
    assert "fetch" not in err


def test_list_as_json(capsys, own_folder):
    code, out, _ = run(capsys, "list", "--json")
    listed = json.loads(out)
    assert code == 0
    assert listed["folder"] == str(own_folder)
    assert [dataset["name"] for dataset in listed["datasets"]] == list(CATALOGUE)
    assert listed["datasets"][2]["embedded"] is True
    assert listed["datasets"][2]["here"] is False
    assert listed["datasets"][2]["files"][1]["n_bytes"] == 526


@pytest.mark.parametrize("command", [["list"], ["info", "enron"], ["verify"], ["fetch", "x"]])
def test_commands_that_load_no_data_do_not_load_numpy(command):
    code = (
        f"import sys; from nldd.cli import run; run(['datasets', *{command}]);"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'numpy', 'scipy')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_info_states_the_catalogue_and_how_to_get_the_files(capsys, own_folder):
    code, out, err = run(capsys, "info", "scene")
    assert code == 0
    assert "  rows             2407\n" in out
    assert f"  folder           {own_folder}\n" in out
    assert "  in Python        nldd.bench.load_dataset('scene')\n" in out
    for file in CATALOGUE["scene"].files:
        assert f"  {file.file}  {file.n_bytes} bytes\n    {file.url}\n" in out
        assert f"    sha256 {file.sha256}" in out
    assert "Measured" not in out
    assert "Not here yet. Get it by: nldd datasets fetch scene" in err


def test_info_measures_yeast_without_files(capsys):
    code, out, err = run(capsys, "info", "yeast")
    assert code == 0
    assert "  here             with nldd\n" in out
    # 10241 labels in 2417 x 14 cells; 77 of the 2417 rows have a labelset of their own.
    assert "  density          0.303 (labels a row / labels)\n" in out
    assert "  seen once        3.2 % of the rows have a labelset of their own\n" in out
    assert "  frequent labels  Class12 75.1 %, Class13 74.4 %, Class2 42.9 %" in out
    assert err == ""


@needs_paper
def test_info_measures_files_that_are_here(capsys):
    code, out, _ = run(capsys, "info", "medical", "--data-dir", FOLDER, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["here"] is True
    assert (facts["n_samples"], facts["n_labelsets"]) == (978, 94)
    measured = facts["measured"]
    assert measured["n_labelsets"] == 94
    assert round(measured["cardinality"], 2) == 1.25
    assert measured["sparse"] is True
    assert len(measured["frequent"]) == 5


def test_info_of_a_data_set_that_is_not_here_as_json(capsys):
    code, out, err = run(capsys, "info", "enron", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["measured"] is None


@pytest.mark.parametrize("labels", ["label_*", "-2", "label_sad, label_calm"])
def test_info_describes_a_csv_file(labels, capsys, tmp_path):
    (tmp_path / "music.csv").write_text(MUSIC)
    code, out, err = run(capsys, "info", tmp_path / "music.csv", "--labels", labels)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        str(tmp_path / "music.csv"),
        "  rows             4",
        "  features         1",
        "  labels           2",
        "  labels a row     1.25 (cardinality)",
        "  labelsets        3 distinct",
        "  density          0.625 (labels a row / labels)",
        "  distinct         0.750 (labelsets / rows, PDIV)",
        "  seen once        50.0 % of the rows have a labelset of their own",
        "  no label         25.0 % of the rows",
        # calm 3 rows, sad 2: ratios 1 and 1.5. Two rows have both: 1 - sqrt(1.5) / 1.25 = 0.0202.
        "  imbalance        MeanIR 1.250, MaxIR 1.500, CVIR 0.283",
        "  SCUMBLE          0.0101 (frequent labels beside rare ones)",
        "  TCS              1.792 (ln of features x labels x labelsets)",
        "  missing values   1 in the features",
        "  frequent labels  label_calm 75.0 %, label_sad 50.0 %",
    ]


PAIR = {
    "birds.xml": "<labels><label name='owl'/></labels>",
    "birds-train.arff": "@relation b\n@attribute x real\n@attribute owl {0,1}\n@data\n1,0\n2,1\n",
    "birds-test.arff": "@relation b\n@attribute x real\n@attribute owl {0,1}\n@data\n3,1\n",
}


@pytest.fixture
def birds(tmp_path):
    for name, content in PAIR.items():
        (tmp_path / name).write_text(content)
    return tmp_path / "birds-train.arff"


def test_info_reads_a_test_file_with_its_training_file_and_says_so(capsys, birds):
    code, out, err = run(capsys, "info", birds)
    assert code == 0
    assert "  rows             3\n" in out
    assert "  given split      2 rows to train on, 1 to test on\n" in out
    assert err == (
        "Note: As the files split it, the first 2 rows are those of birds-train.arff, the other 1 "
        "those of birds-test.arff.\n"
    )
    _, out, err = run(capsys, "info", birds, "--json")
    record = json.loads(out)
    assert (record["measured"]["n_train"], len(record["notes"]), err) == (2, 1, "")


def test_info_of_texts(capsys, tmp_path):
    (tmp_path / "said.csv").write_text("answer,label_pay\nMore pay,1\n,0\n")
    code, out, _ = run(capsys, "info", tmp_path / "said.csv", "--labels", "-1", "--text", "answer")
    assert code == 0
    assert "  features         1 (texts)\n" in out
    assert "  missing values   1 empty texts\n" in out
    assert "TCS" not in out
    code, out, err = run(
        *(capsys, "table", tmp_path / "said.csv", "--labels", "-1", "--text", "answer")
    )
    assert out.splitlines()[2].split()[:4] == ["said", "2", "-", "1"]
    assert "said: Texts, of which features are made inside of the folds.\n" in err
    assert "said: 1 empty text.\n" in err


def test_info_takes_labels_by_the_option_before_those_of_the_file(capsys, birds, tmp_path):
    code, _, err = run(capsys, "info", birds, "--labels", "bird_*")
    assert code == 1
    assert "'bird_*'" in err
    code, out, _ = run(capsys, "info", birds, "--labels", "owl")
    assert code == 0
    assert "labels           1\n" in out
    code, _, err = run(capsys, "export", "yeast", "--labels", "3", "--meka", tmp_path / "y.arff")
    assert (code, "yeast knows its labels" in err) == (2, True)


def test_info_of_rows_in_groups(capsys, tmp_path):
    (tmp_path / "talk.csv").write_text("speaker,x,label_a\nanna,1,0\nanna,2,1\nben,3,1\n")
    words = ("info", tmp_path / "talk.csv", "--labels", "label_*")
    code, out, _ = run(capsys, *words, "--groups", "speaker")
    assert code == 0
    assert "  features         1\n" in out
    code, out, _ = run(capsys, "table", "yeast", *words[1:], "--groups", "speaker")
    assert out.splitlines()[3].split()[:4] == ["talk", "3", "1", "1"]
    code, _, err = run(capsys, "info", "yeast", "--groups", "speaker")
    assert (code, "--groups is for files of your own" in err) == (2, True)


def test_misuse_points_to_the_help_of_the_subcommand(capsys):
    assert run(capsys, "export", "yeast", "--meka") == (
        *(2, ""),
        "Error: Option '--meka' requires an argument.\nTry: nldd datasets export --help\n",
    )


def test_table_compares_data_sets(capsys, birds, tmp_path):
    (tmp_path / "music.csv").write_text(MUSIC)
    names = ("yeast", birds, tmp_path / "music.csv")
    code, out, err = run(capsys, "table", *names, "--labels", "label_*")
    assert code == 0
    cells = [line.split() for line in out.splitlines()]
    assert cells[1] == [
        *("Data", "set", "Rows", "Features", "Labels", "Card.", "Dens.", "Labelsets", "PDIV"),
        *("Single", "MeanIR", "MaxIR", "CVIR", "SCUMBLE", "TCS"),
    ]
    assert cells[2] == (
        [
            "yeast",
            "2417",
            "103",
            "14",
            "4.237",
            "0.303",
            "198",
            "0.082",
            "77",
            "7.197",
            "53.412",
            "1.884",
            "0.1044",
            "12.562",
        ]
    )
    assert cells[3][:4] == ["birds", "3", "1", "1"]
    assert cells[4][0] == "music"
    assert "birds: As the files split it, the first 2 rows are those of birds-train.arff" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "csv"], "mean_ir,max_ir,cv_ir,scumble,tcs\nbirds,3,1,"),
        (["--format", "tex"], "birds & 3 & 1 & 1 & 0.667 &"),
        (["--json"], '"mean_ir": 1.0,'),
    ],
)
def test_table_for_papers_and_programs(capsys, birds, options, words):
    code, out, err = run(capsys, "table", birds, *options)
    assert (code, err) == (0, "")
    assert words in out


def test_export_for_meka(capsys, birds, tmp_path):
    out_dir = tmp_path / "out"
    code, out, err = run(capsys, "export", birds, "--meka", out_dir / "owls.arff")
    assert code == 0
    files = [out_dir / name for name in ("owls-train.arff", "owls-test.arff")]
    assert out.split() == list(map(str, files))
    assert err.startswith("Note: As the files split it, the first 2 rows")
    head = files[0].read_text().splitlines()
    assert head[0] == "@relation 'birds: -C 1'"
    assert head[-2:] == ["0,1", "1,2"]
    code, _, err = run(capsys, "export", birds, "--meka", out_dir / "owls.arff")
    assert code == 1
    assert "owls-train.arff already exists" in err
    assert run(capsys, "export", birds, "--meka", out_dir / "owls.arff", "--force")[0] == 0


def test_info_describes_an_arff_file_as_json(capsys, tmp_path):
    (tmp_path / "toy.arff").write_text(
        "@relation 'toy: -C 1'\n@attribute sad {0,1}\n@attribute tempo numeric\n@data\n{0 1}\n{}\n"
    )
    code, out, _ = run(capsys, "info", tmp_path / "toy.arff", "--json")
    assert code == 0
    measured = json.loads(out)["measured"]
    assert measured["frequent"] == [["sad", 0.5]]
    assert measured["sparse"] is True
    assert measured["seen_once"] == 1.0


def test_info_does_not_print_control_characters_of_a_file(capsys, tmp_path):
    (tmp_path / "odd.csv").write_text("tempo,\x1b[2Jsad\n90,1\n80,0\n")
    _, out, _ = run(capsys, "info", tmp_path / "odd.csv", "--labels", "-1")
    assert "\x1b" not in out
    assert "\\x1b[2Jsad 50.0 %" in out


def test_info_of_a_csv_file_without_labels_names_the_option(capsys, tmp_path):
    (tmp_path / "music.csv").write_text(MUSIC)
    code, out, err = run(capsys, "info", tmp_path / "music.csv")
    assert (code, out) == (1, "")
    assert "Say which columns" in err
    assert err.endswith("On the command line: --labels.\nTry: nldd datasets info --help\n")


@needs_paper
def test_info_of_damaged_files_points_to_verify(capsys, own_folder):
    own_folder.mkdir()
    for file in CATALOGUE["emotions"].files:
        body = (FOLDER / file.file).read_bytes()
        (own_folder / file.file).write_bytes(body.replace(b"@data", b"@date"))
    code, _, err = run(capsys, "info", "emotions")
    assert code == 1
    assert err.endswith(
        "To compare the files: nldd datasets verify emotions\nTry: nldd datasets info --help\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "enrun"], "Did you mean 'enron'?"),
        (["info", "nowhere/music.arff"], "Nor is there a file of that name."),
        (["info", "scene", "--labels", "3"], "scene knows its labels"),
        (["info"], "Missing argument 'NAME'"),
        (["table", "yeast", "enrun"], "Did you mean 'enron'?"),
        (["export", "yeast"], "Missing option '--meka'"),
        (["fetch"], "Name one data set or more, or say: nldd datasets fetch all"),
        (["fetch", "emotoins"], "Did you mean 'emotions'?"),
        (["verify", "scenes"], "Did you mean 'scene'?"),
        (["list", "all"], "unexpected extra argument"),
        (["lst"], "No such command 'lst'"),
    ],
)
def test_misspelt_commands_exit_with_2(arguments, message, capsys):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
