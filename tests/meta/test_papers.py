"""The papers' rows: typed without slips, as far as they can be checked against themselves."""

import pytest

from geceval.meta.papers import COLUMNS, PUBLISHED


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row.data}-{row.label}")
def test_rows_fit_the_columns_and_themselves(row):
    known = {key for keys in COLUMNS[row.data].values() for key in keys}
    assert row.values and set(row.values) <= known
    assert all(-1 <= value <= 1 for value in row.values.values())
    for key in row.values:
        if key.endswith("acc"):  # under tie rule `order`, τ = 2 · accuracy - 1, each rounded
            tau = row.values[key.replace("acc", "τ")]
            assert tau == pytest.approx(2 * row.values[key] - 1, abs=2.1e-3)
