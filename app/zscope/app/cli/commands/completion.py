"""Print or install the script with which a shell completes commands, options and names."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

_SCRIPTS = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/zscope"),
    "zsh": ("XDG_DATA_HOME", ".local/share", "zsh/site-functions/_zscope"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/zscope.fish"),
}
"""For each shell: the variable with the user's folder, its default in the home folder, and the file in it."""
_VARIABLE = "_ZSCOPE_COMPLETE"
_FUNCTION_PATH = "zsh finds it if its folder is in fpath before compinit: add fpath+=({folder}) to ~/.zshrc"


@click.command()
@click.argument("shell", type=click.Choice(list(_SCRIPTS)))
@click.option("--install", is_flag=True, help="Write the script to the user's folder for such scripts.")
@click.pass_context
def command(context: click.Context, shell: str, *, install: bool) -> None:
    """Print or install the completion of commands, options and names for a shell.

    Completes commands, options, metrics, tables and columns with TAB. With --install, the script is written
    to the folder from which the shell loads scripts of the user; a new shell has it.

    \b
    Examples:
      zscope completion bash
      zscope completion fish --install
    """
    completing = get_completion_class(shell)
    assert completing is not None, "click has the shells that can be chosen"
    script = completing(context.find_root().command, {}, "zscope", _VARIABLE).source()
    if not install:
        click.echo(script)
        return
    variable, default, name = _SCRIPTS[shell]
    path = Path(os.environ.get(variable) or Path.home() / default) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{script}\n", encoding="utf-8")
    click.echo(f"written: {path}", err=True)
    if shell == "zsh":
        click.echo(_FUNCTION_PATH.format(folder=path.parent), err=True)
