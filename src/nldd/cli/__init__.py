"""The command line: ``nldd COMMAND``.

One file a command: it reads arguments, calls one function and prints. Commands import what is
heavy when they run, not when they are listed, so that ``nldd --help`` answers at once.

Data go to standard output or files, messages and progress to standard error. Exit codes: 0 done,
1 the data or the request cannot be used, 2 the command was misspelt, 130 interrupted.
"""

import sys
from collections.abc import Sequence

import click

from nldd import __version__
from nldd.cli.benchmark import benchmark
from nldd.cli.datasets import datasets
from nldd.cli.demo import demo
from nldd.cli.report import report
from nldd.exceptions import NLDDError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nldd")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Predict whole labelsets, with the probability that a label is wrong.

    \b
    Examples:
      nldd demo
      nldd benchmark --datasets yeast
      nldd report nldd-results/default
    """


for command in (demo, datasets, benchmark, report):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        # `or 0`: --help and --version return the exit code 0, commands return nothing.
        return int(cli.main(args=list(arguments), prog_name="nldd", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return 130
    except (NLDDError, OSError) as error:
        if "--debug" in arguments:
            raise
        click.echo(f"Error: {error}", err=True)
        return 1
