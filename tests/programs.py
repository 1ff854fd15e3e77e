"""The programs of ``results/`` and ``benchmarks/``, as modules that tests can ask."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def program(name, folder="results"):
    """A program; what it shares with others is found beside those of results."""
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", ROOT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # for its other processes
    sys.path.append(str(ROOT / "results"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "results"))
    return module
