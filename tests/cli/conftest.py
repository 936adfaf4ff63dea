"""The command, run in this process."""

from __future__ import annotations

import pytest


@pytest.fixture
def call(capsys):
    """Run `geceval` with arguments: exit code, standard output, standard error."""
    from geceval.cli.app import run

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call
