"""Write the files that later versions promise to read: ``python make_stored_files.py``.

One of each model of nldd, into ``files/format<number>``, with the rows and what was said of them.
Run it before the release of a new format; what was released stays as it is.
"""

import json
import warnings
from pathlib import Path

from model_files import METHODS, small_problem
from sklearn.base import clone

from nldd.persistence import save_model
from nldd.persistence._archive import FORMAT

ASKED = ("predict", "predict_proba", "predict_theta")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    X, Y = small_problem(24)
    said = {}
    for name, method in METHODS.items():
        model, file = clone(method).fit(X, Y), f"{name.replace(', ', ' ').replace(' ', '_')}.nldd"
        save_model(model, folder / file)
        said[file] = {ask: getattr(model, ask)(X).tolist() for ask in ASKED if hasattr(model, ask)}
    text = json.dumps({"X": X.tolist(), "said": said}, separators=(",", ":"))
    (folder / "expected.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(__file__).parent / "files" / f"format{FORMAT}")
