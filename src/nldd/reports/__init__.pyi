from ._agreement_text import (
    agreement_record as agreement_record,
    kappas_table as kappas_table,
    render_agreement as render_agreement,
    render_suspects as render_suspects,
    suspects_record as suspects_record,
    suspects_table as suspects_table,
    write_disagreements as write_disagreements,
)
from ._coding_page import (
    curve as curve,
    curve_places as curve_places,
    is_fit_report as is_fit_report,
    save_curve as save_curve,
    write_evaluation_report as write_evaluation_report,
    write_fit_report as write_fit_report,
)
from ._coding_text import (
    classifier_record as classifier_record,
    evaluation_record as evaluation_record,
    fit_record as fit_record,
    model_record as model_record,
    render_audit as render_audit,
    render_classifier as render_classifier,
    render_codebook as render_codebook,
    render_evaluation as render_evaluation,
    render_fit as render_fit,
    render_model as render_model,
    render_sample as render_sample,
    render_suggestion as render_suggestion,
    render_triage as render_triage,
    render_undo as render_undo,
    render_update as render_update,
    suggestion_advice as suggestion_advice,
    suggestion_record as suggestion_record,
    triage_record as triage_record,
    undo_record as undo_record,
)
from ._datasets_text import (
    as_record as as_record,
    datasets_table as datasets_table,
    render_entry as render_entry,
    render_facts as render_facts,
    render_fetched as render_fetched,
    render_list as render_list,
    render_states as render_states,
)
from ._demo_text import render_demo as render_demo
from ._frequencies_text import (
    bias_table as bias_table,
    frequencies_record as frequencies_record,
    frequencies_table as frequencies_table,
    named as named,
    render_frequencies as render_frequencies,
    write_frequencies as write_frequencies,
    write_frequencies_report as write_frequencies_report,
)
from ._latex import RENDERERS as RENDERERS, to_latex as to_latex
from ._page import (
    Figure as Figure,
    Page as Page,
    Section as Section,
    render_page as render_page,
    save_figure as save_figure,
    svg as svg,
)
from ._promise import (
    counts_record as counts_record,
    drawn_notes as drawn_notes,
    render_counts as render_counts,
    render_failed_refit as render_failed_refit,
    render_unsupported as render_unsupported,
)
from ._published import (
    PUBLISHED_COEFFICIENTS as PUBLISHED_COEFFICIENTS,
    PUBLISHED_MEASURES as PUBLISHED_MEASURES,
    PublishedTable as PublishedTable,
    doubtful as doubtful,
    explanation as explanation,
    published as published,
    published_average_ranks as published_average_ranks,
    published_ranks as published_ranks,
    published_seconds as published_seconds,
    published_significance as published_significance,
    published_subsets as published_subsets,
)
from ._report import make_report as make_report, report as report, write_report as write_report
from ._results import (
    Outcome as Outcome,
    Results as Results,
    outcome as outcome,
    render_outcome as render_outcome,
    results as results,
)
from ._score_tables import choose_measures as choose_measures
from ._table import (
    DataRow as DataRow,
    Entry as Entry,
    Row as Row,
    Table as Table,
    to_csv as to_csv,
    to_markdown as to_markdown,
    to_text as to_text,
)

__all__ = [
    "Entry",
    "Page",
    "PublishedTable",
    "Results",
    "Table",
    "make_report",
    "published",
    "report",
    "results",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_text",
    "write_report",
]
