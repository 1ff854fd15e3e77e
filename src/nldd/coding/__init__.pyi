from ._agreement import (
    Agreement as Agreement,
    Alpha as Alpha,
    CodeAgreement as CodeAgreement,
    Disagreement as Disagreement,
    SharedAnswer as SharedAnswer,
    agreement_of_tables as agreement_of_tables,
    compare_coders as compare_coders,
)
from ._answers import (
    Answers as Answers,
    CodeColumns as CodeColumns,
    Columns as Columns,
    Listing as Listing,
)
from ._audit import (
    Audit as Audit,
    Sample as Sample,
    draw_sample as draw_sample,
    is_checked as is_checked,
    judge_checks as judge_checks,
    read_audit as read_audit,
)
from ._chance import ChanceRegression as ChanceRegression
from ._code_slips import close_code as close_code
from ._codebook import (
    Codebook as Codebook,
    Entry as Entry,
    read_codebook as read_codebook,
    write_codebook as write_codebook,
)
from ._coded_blocks import (
    AUTO as AUTO,
    BY_PEOPLE as BY_PEOPLE,
    N_NEXT as N_NEXT,
    PARTLY as PARTLY,
    REVIEW as REVIEW,
    BlockWatch as BlockWatch,
    CodedBlock as CodedBlock,
    Counts as Counts,
    Policy as Policy,
    code_blocks as code_blocks,
    next_labelsets as next_labelsets,
)
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
    TargetShare as TargetShare,
    Triage as Triage,
    TriageRow as TriageRow,
    evaluate_evidence as evaluate_evidence,
    evaluate_model as evaluate_model,
    evaluate_table as evaluate_table,
    promise_kept as promise_kept,
    score_answers as score_answers,
    summarise as summarise,
    target_shares as target_shares,
    triage as triage,
    triage_rows as triage_rows,
)
from ._features import AnswerFeatures as AnswerFeatures
from ._frequencies import (
    Basis as Basis,
    Frequencies as Frequencies,
    Frequency as Frequency,
    code_frequencies as code_frequencies,
)
from ._guarantee import level_share as level_share
from ._guarantee_cell import Guarantee as Guarantee
from ._model import (
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
    check_places as check_places,
    code_table as code_table,
    free_names as free_names,
)
from ._per_code import (
    CodeLimits as CodeLimits,
    CodeSelection as CodeSelection,
    select_codes as select_codes,
)
from ._predecessors import (
    Undone as Undone,
    model_lock as model_lock,
    replace_model as replace_model,
    undo_model as undo_model,
)
from ._predictions import (
    PER_CODE as PER_CODE,
    Predictions as Predictions,
    out_of_fold as out_of_fold,
)
from ._recoding import apply_codebook as apply_codebook
from ._selective import (
    Selection as Selection,
    accuracy_interval as accuracy_interval,
    selective_threshold as selective_threshold,
)
from ._shares import (
    CodeBias as CodeBias,
    PartCounts as PartCounts,
    code_bias as code_bias,
    count_part as count_part,
    difference_limits as difference_limits,
    estimate_rest as estimate_rest,
    rest_limits as rest_limits,
)
from ._study import (
    Step as Step,
    fit_table as fit_table,
    refit_model as refit_model,
    update_model as update_model,
)
from ._suggest import (
    Group as Group,
    Suggestion as Suggestion,
    suggest_codes as suggest_codes,
    write_draft as write_draft,
    write_suggestion as write_suggestion,
)
from ._suspects import (
    IDENTICAL as IDENTICAL,
    UNLIKE as UNLIKE,
    Suspect as Suspect,
    find_suspects as find_suspects,
    write_suspects as write_suspects,
)
from ._training_table import (
    CodedAnswers as CodedAnswers,
    Request as Request,
    find_columns as find_columns,
    read_coded as read_coded,
)

__all__ = [
    "Agreement",
    "Answers",
    "Audit",
    "CodeColumns",
    "Codebook",
    "CodedAnswers",
    "CodingModel",
    "Columns",
    "Counts",
    "CrossValidation",
    "Entry",
    "Evaluation",
    "Frequencies",
    "Kept",
    "Listing",
    "Policy",
    "Predictions",
    "Request",
    "Sample",
    "Selection",
    "Settings",
    "SharedAnswer",
    "Step",
    "Suggestion",
    "Suspect",
    "Triage",
    "Undone",
    "agreement_of_tables",
    "apply_codebook",
    "code_frequencies",
    "code_table",
    "compare_coders",
    "cross_validate",
    "draw_sample",
    "evaluate_evidence",
    "evaluate_table",
    "find_suspects",
    "fit_coding_model",
    "fit_table",
    "load_coding_model",
    "promise_kept",
    "read_audit",
    "read_codebook",
    "save_coding_model",
    "selective_threshold",
    "suggest_codes",
    "triage",
    "undo_model",
    "update_model",
    "write_codebook",
    "write_suggestion",
    "write_suspects",
]
