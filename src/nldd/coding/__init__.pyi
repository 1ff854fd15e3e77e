from ._answers import (
    Answers as Answers,
    CodeColumns as CodeColumns,
    Columns as Columns,
    Listing as Listing,
)
from ._chance import ChanceRegression as ChanceRegression
from ._cross_validation import (
    CrossValidation as CrossValidation,
    cross_validate as cross_validate,
)
from ._evaluation import (
    Confusion as Confusion,
    Evaluation as Evaluation,
    Kept as Kept,
    LabelScore as LabelScore,
    Score as Score,
    Summary as Summary,
    Triage as Triage,
    TriageRow as TriageRow,
    evaluate_evidence as evaluate_evidence,
    evaluate_model as evaluate_model,
    evaluate_table as evaluate_table,
    n_learned as n_learned,
    promise_kept as promise_kept,
    score_answers as score_answers,
    summarise as summarise,
    triage as triage,
    triage_rows as triage_rows,
)
from ._features import AnswerFeatures as AnswerFeatures
from ._model import (
    UPDATED as UPDATED,
    CodingModel as CodingModel,
    Event as Event,
    Settings as Settings,
    add_answers as add_answers,
    checksum as checksum,
    fit_coding_model as fit_coding_model,
    now as now,
)
from ._model_file import (
    load_coding_model as load_coding_model,
    save_coding_model as save_coding_model,
)
from ._output import (
    Audit as Audit,
    Counts as Counts,
    Policy as Policy,
    Sample as Sample,
    check_places as check_places,
    code_table as code_table,
    draw_sample as draw_sample,
    is_checked as is_checked,
    read_audit as read_audit,
    reasons as reasons,
)
from ._predictions import Predictions as Predictions, out_of_fold as out_of_fold
from ._selective import (
    Selection as Selection,
    accuracy_interval as accuracy_interval,
    answers_needed as answers_needed,
    selective_threshold as selective_threshold,
)
from ._study import Step as Step, fit_table as fit_table, update_model as update_model
from ._suggest import (
    Group as Group,
    Suggestion as Suggestion,
    suggest_codes as suggest_codes,
    write_codebook as write_codebook,
    write_draft as write_draft,
)
from ._training_table import (
    CodedAnswers as CodedAnswers,
    Request as Request,
    find_columns as find_columns,
    read_coded as read_coded,
)
