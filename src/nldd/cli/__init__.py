"""The command line: ``nldd COMMAND``.

One file a command: it reads arguments, calls one function and prints. The packages that do the work
load nothing before they are used, so that ``nldd --help`` answers at once.

Data go to standard output or files, messages and progress to standard error. Exit codes: 0 done,
1 the data or the request cannot be used, 2 the command was misspelt, 130 interrupted.
"""

import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from traceback import format_exception
from typing import Any

import click

from nldd import __version__
from nldd.cli._printing import print_notes, say
from nldd.exceptions import NLDDError, NLDDWarning

# Commands by what they are for, in the order of a study; each is a module of that name.
COMMANDS = {
    "Code your own answers": {
        "suggest": "Draft a codebook from answers without codes.",
        "fit": "Learn from coded answers.",
        "triage": "See how much may be coded automatically.",
        "predict": "Code new answers.",
        "review": "Decide on a page what the machine is not sure of.",
        "update": "Let hand-coded answers join a model.",
        "undo": "Take back the last change of a model.",
        "inspect": "Show what a model holds.",
        "codebook": "Name, describe, merge and order codes.",
        "evaluate": "Compare a model's codes with people's.",
        "audit": "Check automatic codes by hand.",
        "frequencies": "Tell the share of each code, corrected for errors.",
        "suspects": "Find answers that people may have miscoded.",
        "agreement": "Compare the codes of two or more people.",
    },
    "Compare methods": {
        "datasets": "List, fetch and verify the data sets of the paper.",
        "benchmark": "Run methods on data sets.",
        "report": "Make tables and figures of a benchmark.",
    },
    "More": {
        "demo": "See it work: on yeast, or on a survey.",
        "completion": "Set up completion in the shell.",
    },
}
NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2
NAMES = [name for part in COMMANDS.values() for name in part]


class _Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return NAMES

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return getattr(import_module(f"nldd.cli.{name}"), name) if name in NAMES else None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; a word that is no command is answered with the nearest one that is."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], NAMES, n=1)
            if not near or "mean" in error.message:
                raise
            message = f"{error.message} Did you mean {near[0]!r}?"
            raise click.UsageError(message, context) from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nldd")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Predict whole labelsets, with the probability that a label is wrong.

    \b
    Examples:
      nldd demo survey
      nldd fit answers.csv --text answer --labels codes -o model.nldd
      nldd predict model.nldd new.csv -o coded.csv --target-accuracy 0.9
      nldd benchmark --datasets yeast
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal of few letters shows the codes of others, rather than a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.platform == "win32":
        import colorama

        colorama.just_fix_windows_console()  # which else shows the moves of a progress bar
    sys.excepthook = lambda *error: say("".join(format_exception(*error)).rstrip())  # of --debug
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    with warnings.catch_warnings():
        # A warning is for the person at the command line, not for the programmer.
        warnings.showwarning = lambda message, *where, **more: print_notes([str(message)])
        warnings.simplefilter("always", NLDDWarning)
        try:
            # `or 0`: --help and --version return the exit code 0, commands return nothing.
            return int(cli.main(args=list(arguments), prog_name="nldd", standalone_mode=False) or 0)
        except (KeyboardInterrupt, click.Abort):
            say("Interrupted.")
            return 130
        except NO_ARGUMENTS as error:
            say(error.format_message())  # the help, which is no error
            return error.exit_code
        except Exception as error:
            if "--debug" in arguments and not isinstance(error, click.ClickException):
                raise
            message, hint = _explain(error, arguments)
            say(f"Error: {message}\nTry: {hint}")
            return getattr(error, "exit_code", 1)


def _explain(error: Exception, arguments: Sequence[str]) -> tuple[str, str]:
    """What an error says, one of the system without its number, and what to do about it."""
    path = _command_path(arguments)
    if isinstance(error, click.ClickException):
        return error.format_message(), f"{path} --help"
    if not isinstance(error, NLDDError | OSError):
        return (
            f"this is a mistake in nldd, not in your data: {type(error).__name__}: {error}",
            f"nldd --debug {path[5:] or 'COMMAND'} ... to see where, and report what it prints",
        )
    if isinstance(error, OSError) and error.strerror:
        hint = "check the name, who may read and write there, and the space on the disk"
        where = f"{error.filename}: " if error.filename else ""
        return where + error.strerror, hint
    hint = getattr(error, "hint", "") or f"{path} --help"
    # A missing extra ends with what is about to be said.
    return str(error).removesuffix(f" Run: {hint}"), hint


def _command_path(arguments: Sequence[str]) -> str:
    """The command and its subcommand, which errors of click do not always know."""
    path = "nldd"
    command: click.Command = cli
    for word in arguments:
        if not isinstance(command, click.Group):
            break
        if found := command.get_command(click.Context(command), word):
            path, command = f"{path} {word}", found
    return path
