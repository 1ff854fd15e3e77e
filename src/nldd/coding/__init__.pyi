from ._abstention import reasons as reasons
from ._answers import Answers as Answers
from ._audit import (
    Audit as Audit,
    Sample as Sample,
    draw_sample as draw_sample,
    is_checked as is_checked,
    read_audit as read_audit,
)
from ._coded_answers import CodedAnswers as CodedAnswers
from ._coded_output import Counts as Counts, Policy as Policy, code_table as code_table
from ._coded_tables import (
    Request as Request,
    find_columns as find_columns,
    read_coded as read_coded,
)
from ._columns import CodeColumns as CodeColumns, Columns as Columns
from ._evaluation import (
    Confusion as Confusion,
    Evaluation as Evaluation,
    LabelScore as LabelScore,
    evaluate_evidence as evaluate_evidence,
    evaluate_model as evaluate_model,
    evaluate_table as evaluate_table,
    n_learned as n_learned,
)
from ._evidence import Predictions as Predictions, out_of_fold as out_of_fold
from ._features import AnswerFeatures as AnswerFeatures
from ._history import UPDATED as UPDATED, Event as Event, checksum as checksum, now as now
from ._interval import accuracy_interval as accuracy_interval
from ._model import (
    CodingModel as CodingModel,
    Settings as Settings,
    add_answers as add_answers,
    fit_coding_model as fit_coding_model,
)
from ._model_file import (
    load_coding_model as load_coding_model,
    save_coding_model as save_coding_model,
)
from ._places import check_places as check_places
from ._promise import Kept as Kept, promise_kept as promise_kept
from ._scores import Score as Score, score_answers as score_answers
from ._selective import (
    Selection as Selection,
    answers_needed as answers_needed,
    selective_threshold as selective_threshold,
)
from ._study import Step as Step, fit_table as fit_table, update_model as update_model
from ._summary import Summary as Summary, summarise as summarise
from ._triage import (
    Triage as Triage,
    TriageRow as TriageRow,
    triage as triage,
    triage_rows as triage_rows,
)
