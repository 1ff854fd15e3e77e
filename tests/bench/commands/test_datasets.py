"""``nldd datasets`` as people call it; fetching is in ``test_datasets_fetch``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nldd import cli
from nldd.bench.datasets.catalogue import CATALOGUE
from paper_data import FOLDER

MUSIC = "tempo,label_sad,label_calm\n90,1,1\n120,0,1\n,0,0\n80,1,1\n"
HEAD = "@relation b\n@attribute x real\n@attribute owl {0,1}\n@data\n"

needs_paper = pytest.mark.skipif(
    not (FOLDER / "emotions.arff").exists(), reason="needs the paper's files: set NLDD_DATA"
)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with some files of one's own: exit code, output, and errors."""
    files = {
        "music.csv": MUSIC,
        "said.csv": "answer,label_pay\nMore pay,1\n,0\n",
        "talk.csv": "speaker,x,label_a\nanna,1,0\nanna,2,1\nben,3,1\n",
        "odd.csv": "tempo,\x1b[2Jsad\n90,1\n80,0\n",
        "birds.xml": "<labels><label name='owl'/></labels>",
        "birds-train.arff": HEAD + "1,0\n2,1\n",
        "birds-test.arff": HEAD + "3,1\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLDD_DATA", str(tmp_path))

    def run(*arguments):
        code = cli.run(["datasets", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


PRINTED = {
    "list": "list",
    "info": "info scene; info yeast; info music.csv --labels label_*; info birds-train.arff; "
    "info said.csv --labels -1 --text answer; info talk.csv --labels label_* --groups speaker; "
    "info odd.csv --labels -1; info music.csv; info birds-train.arff --labels bird_*",
    "table": "table yeast birds-train.arff music.csv --labels label_*; "
    "table said.csv --labels -1 --text answer; table birds-train.arff --format csv; "
    "table birds-train.arff --format tex; table birds-train.arff --json",
}


@pytest.mark.parametrize(("name", "commands"), PRINTED.items(), ids=PRINTED)
def test_what_is_printed(run, snapshot, name, commands):
    told = ""
    for command in commands.split("; "):
        code, out, err = run(*command.split())
        told += f"$ nldd datasets {command}\n{out}-- on standard error, exit code {code}:\n{err}\n"
    snapshot(told, f"datasets_{name}")


@needs_paper
def test_list_and_info_of_what_is_here(run):
    code, out, err = run("list", "--data-dir", FOLDER)
    assert [line.split()[-1] for line in out.splitlines()[1:]] == ["yes"] * 9
    assert (code, "fetch" in err) == (0, False)
    code, out, _ = run("info", "medical", "--data-dir", FOLDER, "--json")
    facts = json.loads(out)
    assert (code, facts["here"], facts["n_samples"], facts["n_labelsets"]) == (0, True, 978, 94)
    measured = facts["measured"]
    assert (measured["n_labelsets"], measured["sparse"], len(measured["frequent"])) == (94, True, 5)
    assert round(measured["cardinality"], 2) == 1.25


def test_json(run, tmp_path):
    listed = json.loads(run("list", "--json")[1])
    assert listed["folder"] == str(tmp_path)
    assert [dataset["name"] for dataset in listed["datasets"]] == list(CATALOGUE)
    yeast = listed["datasets"][2]
    assert (yeast["embedded"], yeast["here"], yeast["files"][1]["n_bytes"]) == (True, False, 526)
    code, out, err = run("info", "enron", "--json")
    assert (code, err, json.loads(out)["measured"]) == (0, "", None)
    record = json.loads(run("info", "birds-train.arff", "--json")[1])
    assert record["path"] == "birds-train.arff"
    assert (record["measured"]["n_train"], len(record["notes"])) == (2, 1)
    assert record["measured"]["frequent"] == [["owl", pytest.approx(2 / 3)]]


@pytest.mark.parametrize("command", [["list"], ["info", "enron"], ["verify"], ["fetch", "x"]])
def test_commands_that_load_no_data_do_not_load_numpy(run, command):
    code = (
        f"import sys; from nldd.cli import run; run(['datasets', *{command}]);"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'numpy', 'scipy')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_table_refuses_two_data_sets_of_one_name(run):
    code, _, err = run("table", "yeast", "yeast")
    assert (code, "called 'yeast'" in err) == (1, True)


def test_export_for_meka(run, tmp_path):
    code, out, err = run("export", "birds-train.arff", "--meka", "out/owls.arff")
    assert code == 0
    assert out.split() == [str(Path("out", f"owls-{part}.arff")) for part in ("train", "test")]
    assert err.startswith("Note: As the files split it, the first 2 rows")
    lines = (tmp_path / out.split()[0]).read_text().splitlines()
    assert (lines[0], lines[-2:]) == ("@relation 'birds: -C 1'", ["0,1", "1,2"])
    code, _, err = run("export", "birds-train.arff", "--meka", "out/owls.arff")
    assert (code, "owls-train.arff already exists" in err) == (1, True)
    assert run("export", "birds-train.arff", "--meka", "out/owls.arff", "--force")[0] == 0


@needs_paper
def test_info_of_damaged_files_points_to_verify(run, tmp_path):
    for file in CATALOGUE["emotions"].files:
        body = (FOLDER / file.file).read_bytes()
        (tmp_path / file.file).write_bytes(body.replace(b"@data", b"@date"))
    code, _, err = run("info", "emotions")
    assert (code, "nldd datasets verify emotions" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("info enrun", "Did you mean 'enron'?"),
        ("info nowhere/music.arff", "Nor is there a file of that name."),
        ("info scene --labels 3", "scene knows its labels"),
        ("info yeast --groups speaker", "--groups is for files of your own"),
        ("export yeast --labels 3 --meka y.arff", "yeast knows its labels"),
        ("info", "Missing argument 'NAME'"),
        ("table yeast enrun", "Did you mean 'enron'?"),
        ("export yeast", "Missing option '--meka'"),
        ("fetch", "nldd datasets fetch all"),
        ("fetch emotoins", "Did you mean 'emotions'?"),
        ("verify scenes", "Did you mean 'scene'?"),
        ("lst", "No such command 'lst'"),
    ],
)
def test_misspelt_commands_exit_with_2(run, arguments, message):
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert message in err
