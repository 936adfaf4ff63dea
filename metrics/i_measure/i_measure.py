"""I-measure: how much better or worse than the source a correction is."""

import geceval.hub.evaluate_module  # From: geceval

_CITATION = """\
@inproceedings{felice-briscoe-2015-towards,
    title = "Towards a standard evaluation method for grammatical error detection and correction",
    author = "Felice, Mariano and Briscoe, Ted",
    booktitle = "Proceedings of the 2015 Conference of the North American Chapter of the Association for Computational
        Linguistics: Human Language Technologies",
    year = "2015",
    pages = "578--587",
    url = "https://aclanthology.org/N15-1060",
}
"""

_DESCRIPTION = """\
The I-measure (Felice and Briscoe, 2015) aligns source, correction and reference token by token, takes an accuracy in
which changes weigh twice, and sets it in relation to the accuracy of the source: 1 is perfect, 0 is no better than
doing nothing, below 0 is worse than that.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): I of the corpus, in [-1, 1]; higher is better. The original program prints 100 times as much.
    scores (`list` of `float`): I of each sentence with its best reference, in [-1, 1].
    tp, fp, fn, tn, fpn, precision, recall, f (`float`): Of the corpus; `fpn` counts tokens changed to the wrong thing.
    acc, wacc, base_wacc (`float`): Accuracy, weighted accuracy, and the latter of the source, in [0, 1].
"""


class IMeasure(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/N15-1060"]
    codebase_urls = ["https://github.com/mfelice/imeasure"]
