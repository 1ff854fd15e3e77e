"""``nldd completion``: let the shell complete commands and options."""

import click


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
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    root = context.find_root().command
    if script is None:
        raise click.UsageError(f"{shell} is not supported by this version of click.")
    click.echo(script(root, {}, "nldd", "_NLDD_COMPLETE").source())
