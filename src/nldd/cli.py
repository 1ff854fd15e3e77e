"""The command line: ``nldd COMMAND``.

Commands live in their rooms, one file each, and are imported when they are called, so that
``nldd --help`` answers at once.

Data go to standard output or files, messages and progress to standard error. Exit codes: 0 done,
1 the data or the request cannot be used, 2 the command was misspelt, 130 interrupted.
"""

import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from traceback import format_exception
from typing import Any

import click
from click.shell_completion import get_completion_class

from nldd import __version__
from nldd.exceptions import NLDDError, NLDDWarning
from nldd.present.console import print_notes, say

# Commands by what they are for, in the order of a study: module of that name and function in it.
COMMANDS = {
    "Code your own answers": {
        "suggest": ("coding.commands.codebook", "Draft a codebook from answers without codes."),
        "fit": ("coding.commands.fit", "Learn from coded answers."),
        "triage": ("coding.commands.predict", "See how much may be coded automatically."),
        "predict": ("coding.commands.predict", "Code new answers."),
        "review": ("coding.commands.review", "Review uncertain answers in the browser."),
        "update": ("coding.commands.fit", "Add coded answers and refit."),
        "undo": ("coding.commands.fit", "Take back the last change of a model."),
        "inspect": ("coding.commands.fit", "Show what a model holds."),
        "codebook": ("coding.commands.codebook", "Name, describe, merge and order codes."),
        "evaluate": ("coding.commands.check", "Compare a model's codes with people's."),
        "audit": ("coding.commands.check", "Check automatic codes by hand."),
        "frequencies": ("coding.commands.predict", "Estimate code frequencies, corrected."),
        "suspects": ("coding.commands.check", "Find answers that may be miscoded."),
        "agreement": ("coding.commands.check", "Compare the codes of two or more coders."),
    },
    "Compare methods": {
        "datasets": ("bench.commands.datasets", "List, fetch and verify the paper's data sets."),
        "benchmark": ("bench.commands.benchmark", "Run methods on data sets."),
        "report": ("bench.commands.report", "Make tables and figures of a benchmark."),
    },
    "More": {
        "demo": ("cli", "See it work: on yeast, or on a survey."),
        "completion": ("cli", "Set up completion in the shell."),
    },
}
DEMOS = {
    "Demonstrations": {
        "yeast": ("bench.commands.demo", "BR against NLDD on yeast; the default."),
        "survey": ("coding.commands.demo", "A whole study on a made-up survey."),
    }
}
NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2


class LazyGroup(click.Group):
    """Commands that are imported when they are called."""

    def __init__(self, sections: dict[str, dict[str, tuple[str, str]]], **options: Any) -> None:
        super().__init__(**options)
        self.sections = sections
        self.modules = {name: at for part in sections.values() for name, (at, _) in part.items()}

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(self.modules)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import the command of a name."""
        if name not in self.modules:
            return None
        command: click.Command = getattr(import_module(f"nldd.{self.modules[name]}"), name)
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for an unknown one, which not every click does."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.modules, n=1)
            if not near or "mean" in error.message:
                raise
            message = f"{error.message} Did you mean {near[0]!r}?"
            raise click.UsageError(message, context) from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, help) for name, (_, help) in commands.items()])


class DemoGroup(LazyGroup):
    """Demonstrations, of which the first is run if none is named."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Put the first demonstration in front of its options."""
        is_option = not args or (args[0][:1] == "-" and args[0] not in context.help_option_names)
        if is_option and not context.resilient_parsing:
            args = [self.list_commands(context)[0], *args]
        return super().parse_args(context, args)


@click.group(
    cls=LazyGroup, sections=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="nldd")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Predict whole labelsets, with the expected error rate of each prediction.

    \b
    Examples:
      nldd demo survey
      nldd fit answers.csv --text answer --labels codes -o model.nldd
      nldd predict model.nldd new.csv -o coded.csv --target-accuracy 0.9
      nldd benchmark --datasets yeast
    """


@click.group(cls=DemoGroup, sections=DEMOS)
def demo() -> None:
    """See it work: BR against NLDD on yeast, or a coding study from end to end.

    \b
    Examples:
      nldd demo
      nldd demo survey
    """


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete nldd's commands and options.

    \b
    Examples:
      nldd completion bash >> ~/.bashrc
      nldd completion zsh >> ~/.zshrc
      nldd completion fish > ~/.config/fish/completions/nldd.fish
    """
    # Of the shells above, click knows them all.
    complete: Any = get_completion_class(shell)
    click.echo(complete(context.find_root().command, {}, "nldd", "_NLDD_COMPLETE").source())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal of few letters shows the codes of others, rather than a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
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
    """Say what an error means, without the number of the system, and what to do about it."""
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
    """Return the command and its subcommand, which errors of click do not always know."""
    path, context = "nldd", click.Context(cli)
    command: click.Command | None = cli
    with suppress(ImportError):  # which is the error that is being explained
        for word in arguments:
            if isinstance(command, click.Group) and word in command.list_commands(context):
                path = f"{path} {word}"
                command = command.get_command(context, word)
    return path
