"""Coding of open-ended answers: the sure ones by machine, the rest by people.

:func:`fit_table` learns from a table of answers that people have coded, and keeps each answer as
predicted without itself. From those, :func:`triage` tells how much may be coded automatically at
which accuracy, and :func:`selective_threshold` finds the theta that holds a target.
:func:`code_table` codes new answers, :func:`update_model` lets corrected ones join the model,
:func:`evaluate_table` and :func:`draw_sample` check it.
"""

from nldd._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
