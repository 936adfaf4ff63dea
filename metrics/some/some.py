"""Grammaticality, fluency and meaning as people would rate them, reference-free."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@inproceedings{yoshimura-etal-2020-reference,
    title = "{SOME}: Reference-less Sub-Metrics Optimized for Manual Evaluations of Grammatical Error Correction",
    author = "Yoshimura, Ryoma and Kaneko, Masahiro and Kajiwara, Tomoyuki and Komachi, Mamoru",
    booktitle = "Proceedings of the 28th International Conference on Computational Linguistics",
    year = "2020",
    pages = "6516--6522",
    url = "https://aclanthology.org/2020.coling-main.573",
}
"""

_DESCRIPTION = """\
SOME scores a correction without references. Three regressors, trained on human ratings of the outputs of correction
systems, say how grammatical and how fluent the corrected sentence is and how much of the meaning of its source it
keeps; the score is their weighted sum.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores; higher is better. About [0, 1] for weights that add up to 1.
    scores (`list` of `float`): One score per sentence.
    grammaticality, fluency, meaning (`float`): Means of the sub-scores, which are (rating - 1) / 3, not clipped.
    grammaticality_scores, fluency_scores, meaning_scores (`list` of `float`): One sub-score per sentence.
"""


class Some(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2020.coling-main.573"]
    codebase_urls = ["https://github.com/kokeman/SOME"]
