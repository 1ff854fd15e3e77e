"""Coding of open-ended answers: the sure ones by machine, the rest by people.

Overview
--------
:func:`fit_table` learns from a table of answers that people have coded, and keeps each answer as
predicted without itself. From those, :func:`triage` tells how much may be coded automatically at
which accuracy, and :func:`selective_threshold` finds the theta that holds a target.
:func:`code_table` codes new answers, :func:`update_model` lets corrected ones join the model,
:func:`evaluate_table` and :func:`draw_sample` check it.
"""

from nldd.coding._abstention import reasons
from nldd.coding._answers import Answers
from nldd.coding._audit import Audit, Sample, draw_sample, is_checked, read_audit
from nldd.coding._coded_answers import CodedAnswers
from nldd.coding._coded_output import Counts, Policy, code_table
from nldd.coding._coded_tables import Request, TableOptions, find_columns, read_coded
from nldd.coding._columns import CodeColumns, Columns
from nldd.coding._curve import curve, save_curve
from nldd.coding._evaluation import (
    Confusion,
    Evaluation,
    LabelScore,
    evaluate_evidence,
    evaluate_model,
    evaluate_table,
    n_learned,
)
from nldd.coding._evidence import Predictions, out_of_fold
from nldd.coding._features import AnswerFeatures
from nldd.coding._history import UPDATED, Event, checksum
from nldd.coding._interval import accuracy_interval
from nldd.coding._model import CodingModel, Settings, add_answers, fit_coding_model
from nldd.coding._model_file import load_coding_model, save_coding_model
from nldd.coding._page import write_evaluation_report, write_fit_report
from nldd.coding._places import check_places
from nldd.coding._promise import Kept, promise_kept
from nldd.coding._scores import Score, score_answers
from nldd.coding._selective import Selection, answers_needed, selective_threshold
from nldd.coding._study import Step, fit_table, update_model
from nldd.coding._triage import Triage, TriageRow, triage, triage_rows
from nldd.displays import CalibrationDisplay, RiskCoverageDisplay
from nldd.displays import risk_coverage as risk_coverage_curve

__all__ = [
    "UPDATED",
    "AnswerFeatures",
    "Answers",
    "Audit",
    "CalibrationDisplay",
    "CodeColumns",
    "CodedAnswers",
    "CodingModel",
    "Columns",
    "Confusion",
    "Counts",
    "Evaluation",
    "Event",
    "Kept",
    "LabelScore",
    "Policy",
    "Predictions",
    "Request",
    "RiskCoverageDisplay",
    "Sample",
    "Score",
    "Selection",
    "Settings",
    "Step",
    "TableOptions",
    "Triage",
    "TriageRow",
    "accuracy_interval",
    "add_answers",
    "answers_needed",
    "check_places",
    "checksum",
    "code_table",
    "curve",
    "draw_sample",
    "evaluate_evidence",
    "evaluate_model",
    "evaluate_table",
    "find_columns",
    "fit_coding_model",
    "fit_table",
    "is_checked",
    "load_coding_model",
    "n_learned",
    "out_of_fold",
    "promise_kept",
    "read_audit",
    "read_coded",
    "reasons",
    "risk_coverage_curve",
    "save_coding_model",
    "save_curve",
    "score_answers",
    "selective_threshold",
    "triage",
    "triage_rows",
    "update_model",
    "write_evaluation_report",
    "write_fit_report",
]
