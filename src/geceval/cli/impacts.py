"""placeholder"""

import typer


def impacts() -> None:
    """X."""
    raise typer.Exit
