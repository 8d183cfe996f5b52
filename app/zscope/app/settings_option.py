"""The settings of a site: from the file that is named, or the one in the store or the current folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import click

Command = Callable[..., int | None]


def settings_option(command: Command) -> Command:
    """Give a command that has a `store` the option of settings; it gets one argument `settings`."""

    @click.option(
        "--settings", "settings_path", metavar="FILE", type=click.Path(path_type=Path),
        help="Read settings from FILE instead of zscope.toml in the store or in the current folder.",
    )  # fmt: skip
    @wraps(command)
    def with_settings(*, settings_path: Path | None, store: Path, **options: object) -> int | None:
        from zscope.pipelines.settings import SettingsError, read_settings

        try:
            settings = read_settings(settings_path, store)
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
        return command(settings=settings, store=store, **options)

    return with_settings
