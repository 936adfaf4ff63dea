"""Probability that a correction, even a free rewrite, says what its source says, reference-free."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@misc{goto-etal-2025-reliability,
    title = "Reliability Crisis of Reference-free Metrics for Grammatical Error Correction",
    author = "Goto, Takumi and Sakai, Yusuke and Watanabe, Taro",
    year = "2025",
    eprint = "2509.25961",
    archivePrefix = "arXiv",
}
"""

_DESCRIPTION = """\
Meaning is the probability that a correction says what its source says, by a small encoder that reads both at once.
It learnt from corrections, partial ones and fluent rewrites on one side, and on the other from texts that drop, add,
repeat, negate or exchange something.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores, in [0, 1]; higher is better.
    scores (`list` of `float`): One probability per sentence; 1 where source and prediction are equal.
"""


class Meaning(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://arxiv.org/abs/2509.25961"]
