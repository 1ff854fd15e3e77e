"""Compare methods: data sets, protocols, resumable runs, tests, figures and reports.

:func:`load_dataset` reads the data sets of the paper and your own files, :func:`run_benchmark` runs
methods on them under a :class:`Protocol`, :func:`compare` tests the results, and
:func:`write_report` makes tables and figures of them.
"""

from typing import TYPE_CHECKING

from nldd._package import export, require_extra

require_extra("bench", "filelock", "jinja2", "matplotlib", "pooch", "requests", "tqdm")

if TYPE_CHECKING:
    from nldd.bench.datasets.catalogue import CATALOGUE as CATALOGUE, fetch as fetch
    from nldd.bench.datasets.facts import describe as describe
    from nldd.bench.datasets.load import load_dataset as load_dataset
    from nldd.bench.displays import (
        CriticalDifferenceDisplay as CriticalDifferenceDisplay,
        PairsDisplay as PairsDisplay,
    )
    from nldd.bench.report.published import published as published
    from nldd.bench.report.report import write_report as write_report
    from nldd.bench.runner.benchmark import run_benchmark as run_benchmark
    from nldd.bench.runner.protocol import Protocol as Protocol
    from nldd.bench.runner.protocol_file import load_protocol as load_protocol
    from nldd.bench.runner.records import (
        read_predictions as read_predictions,
        read_records as read_records,
    )
    from nldd.bench.statistics import compare as compare
else:
    __getattr__, __dir__, __all__ = export(
        __name__,
        {
            "nldd.bench.datasets.catalogue": "CATALOGUE fetch",
            "nldd.bench.datasets.facts": "describe",
            "nldd.bench.datasets.load": "load_dataset",
            "nldd.bench.displays": "CriticalDifferenceDisplay PairsDisplay",
            "nldd.bench.runner.protocol": "Protocol",
            "nldd.bench.runner.protocol_file": "load_protocol",
            "nldd.bench.report.published": "published",
            "nldd.bench.report.report": "write_report",
            "nldd.bench.runner.benchmark": "run_benchmark",
            "nldd.bench.runner.records": "read_predictions read_records",
            "nldd.bench.statistics": "compare",
        },
    )
