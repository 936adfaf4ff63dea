"""The judgments of SEEDA, and the length of outputs as a metric, for which numbers are known."""

import numpy as np
import pytest

from geceval.corpora.judgments import read_human
from geceval.meta.judgments import HumanData


@pytest.fixture(scope="session")
def seeda(shared_data) -> HumanData:
    return read_human(shared_data / "seeda")


@pytest.fixture(scope="session")
def lengths():
    """A function that gives the lengths of the outputs of systems in characters, [systems, sentences]."""

    def measure(data: HumanData, systems: list[str]) -> np.ndarray:
        return np.array([[len(text) for text in data.outputs[system]] for system in systems], dtype=float)

    return measure
