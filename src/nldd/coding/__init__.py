"""Code open-ended answers: the confident ones automatically, the rest by people.

:func:`fit_table` learns from a table of answers that people have coded, and keeps each answer as
predicted without itself. From those, :func:`triage` tells how much may be coded automatically at
which accuracy, and :func:`selective_threshold` finds the threshold that meets a target.
:func:`code_table` codes new answers, :func:`update_model` adds corrected ones to the model,
:func:`evaluate_table` and :func:`draw_sample` check it.
"""

from typing import TYPE_CHECKING

from nldd._package import export, require_extra

require_extra(
    "coding",
    *("charset_normalizer", "filelock", "jinja2", "matplotlib", "python_calamine", "starlette"),
    *("tqdm", "uvicorn", "xlsxwriter"),
)

if TYPE_CHECKING:
    from nldd.coding.agreement import agreement_of_tables as agreement_of_tables
    from nldd.coding.answers import Answers as Answers, Decisions as Decisions
    from nldd.coding.audit import draw_sample as draw_sample, read_audit as read_audit
    from nldd.coding.automation import triage as triage
    from nldd.coding.calibration import (
        CalibrationDisplay as CalibrationDisplay,
        RiskCoverageDisplay as RiskCoverageDisplay,
    )
    from nldd.coding.codebook import (
        Codebook as Codebook,
        apply_codebook as apply_codebook,
        read_codebook as read_codebook,
        write_codebook as write_codebook,
    )
    from nldd.coding.coded_answers import CodingOptions as CodingOptions
    from nldd.coding.coded_table import code_table as code_table
    from nldd.coding.columns import CodeFormat as CodeFormat, ColumnSpec as ColumnSpec
    from nldd.coding.evaluation import evaluate_table as evaluate_table
    from nldd.coding.frequencies import code_frequencies as code_frequencies
    from nldd.coding.guarantee import (
        GuaranteeTarget as GuaranteeTarget,
        selective_threshold as selective_threshold,
    )
    from nldd.coding.model import (
        CodingModel as CodingModel,
        Settings as Settings,
        fit_coding_model as fit_coding_model,
    )
    from nldd.coding.model_file import (
        load_coding_model as load_coding_model,
        save_coding_model as save_coding_model,
        undo_model as undo_model,
    )
    from nldd.coding.review.rounds import prepare_review as prepare_review
    from nldd.coding.suggestions import suggest_codes as suggest_codes
    from nldd.coding.suspects import find_suspects as find_suspects
    from nldd.coding.tables.reading import TableOptions as TableOptions
    from nldd.coding.training import fit_table as fit_table, update_model as update_model
else:
    __getattr__, __dir__, __all__ = export(
        __name__,
        {
            "nldd.coding.agreement": "agreement_of_tables",
            "nldd.coding.answers": "Answers Decisions",
            "nldd.coding.audit": "draw_sample read_audit",
            "nldd.coding.calibration": "CalibrationDisplay RiskCoverageDisplay",
            "nldd.coding.codebook": "Codebook apply_codebook read_codebook write_codebook",
            "nldd.coding.coded_answers": "CodingOptions",
            "nldd.coding.coded_table": "code_table",
            "nldd.coding.evaluation": "evaluate_table",
            "nldd.coding.frequencies": "code_frequencies",
            "nldd.coding.guarantee": "GuaranteeTarget selective_threshold",
            "nldd.coding.model": "CodingModel Settings fit_coding_model",
            "nldd.coding.model_file": "load_coding_model save_coding_model undo_model",
            "nldd.coding.review.rounds": "prepare_review",
            "nldd.coding.suggestions": "suggest_codes",
            "nldd.coding.suspects": "find_suspects",
            "nldd.coding.tables.reading": "TableOptions",
            "nldd.coding.training": "fit_table update_model",
            "nldd.coding.automation": "triage",
            "nldd.coding.columns": "CodeFormat ColumnSpec",
        },
    )
