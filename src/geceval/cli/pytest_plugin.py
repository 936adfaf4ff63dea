"""The pytest plug-in, which pytest finds by itself; nothing else is imported until its fixture is called."""

from typing import Any

import pytest


@pytest.fixture(scope="session")
def assert_no_regression() -> Any:
    """A function that takes what `geceval.gate` takes; where that does not pass, the test fails with its report."""

    def check(*columns: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        from geceval.cli.gate import report
        from geceval.workflows.gate import gate

        result = gate(*columns, **options)
        if not result.passed:
            pytest.fail(report(result), pytrace=False)
        return result

    return check
