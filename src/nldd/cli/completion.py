"""``nldd completion``: let the shell complete commands and options."""

from typing import Any

import click
from click.shell_completion import get_completion_class


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
