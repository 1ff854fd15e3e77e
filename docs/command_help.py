"""Help texts of the commands as a page: what is typed stands as it is typed, and can be copied.

sphinx-click takes help texts for reStructuredText, in which two hyphens become a dash. So options,
columns and whatever stands in quotes become literals, and examples become blocks.
"""

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sphinx.application import Sphinx

QUOTED = re.compile(r"(?<!`)`([^`]+)`(?!`)|(?<!\w)'([^' ]+)'|\"([^\" ]+)\"")
LITERAL = re.compile(r"(``[^`]+``)")
# Options, and columns and files of nldd.
TYPED = re.compile(r"(?<![\w`-])(?:--?[A-Za-z][\w-]*|nldd_\w+|merged_into|new\.review\.db)")
DEFAULT = re.compile(r"\s*\[default: (.*)\]$")


def as_literals(text: str) -> str:
    """A help text in which all that is typed is a literal.

    >>> as_literals("See `nldd fit --help`; or --labels with a pattern such as 'q1_*'.")
    'See ``nldd fit --help``; or ``--labels`` with a pattern such as ``q1_*``.'
    """
    text = QUOTED.sub(lambda found: f"``{found[1] or found[2] or found[3]}``", text)
    parts = LITERAL.split(text)
    return "".join(p if LITERAL.match(p) else TYPED.sub(r"``\g<0>``", p) for p in parts)


def describe(app: "Sphinx", context: click.Context, lines: list[str]) -> None:
    """The text of a command, with its examples as a block that can be copied."""
    prose, examples = [], []
    for line in lines:
        # A line of a block that click does not wrap.
        (examples if line.startswith("| ") else prose).append(line.removeprefix("| ").strip())
    block = [f"   $ {line}" for line in examples[1:]]
    lines[:] = as_literals("\n".join(prose)).split("\n")
    if block:
        lines += [f"**{examples[0].rstrip(':')}**", "", ".. code-block:: text", "", *block, ""]


def list_options(app: "Sphinx", context: click.Context, lines: list[str]) -> None:
    """Options with what they take, what they mean, and their defaults in the same sentence."""
    options = (param for param in context.command.params if isinstance(param, click.Option))
    lines.clear()
    for option in options:
        words = ", ".join((*option.opts, *option.secondary_opts))
        takes = "" if option.is_flag else f" <{_kind(option)}>"
        lines += [f".. option:: {words}{takes}", "", f"   {_meaning(option)}", ""]


def leave_out(app: "Sphinx", context: click.Context, lines: list[str]) -> None:
    """No list of arguments: the usage names them, and the text says what they are."""
    lines.clear()


def _meaning(option: click.Option) -> str:
    text = as_literals(DEFAULT.sub(r" Default: \1.", option.help or ""))
    if option.show_default and option.default is not None:
        text += f" Default: ``{option.default}``."
    return f"{text} **Required.**" if option.required else text


def _kind(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return option.type.name.upper().removesuffix(" RANGE")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Let sphinx-click hand its lines to the functions above."""
    app.setup_extension("sphinx_click")
    app.connect("sphinx-click-process-description", describe)
    app.connect("sphinx-click-process-options", list_options)
    app.connect("sphinx-click-process-arguments", leave_out)
    return {"parallel_read_safe": True}
