"""Precision, recall and F of typed edits."""

import geceval.hub.evaluate_module  # From: geceval[edits]

_CITATION = """\
@inproceedings{bryant-etal-2017-automatic,
    title = "Automatic Annotation and Evaluation of Error Types for Grammatical Error Correction",
    author = "Bryant, Christopher and Felice, Mariano and Briscoe, Ted",
    booktitle = "Proceedings of the 55th Annual Meeting of the Association for Computational Linguistics
        (Volume 1: Long Papers)",
    year = "2017",
    pages = "793--805",
    url = "https://aclanthology.org/P17-1074",
}
@inproceedings{felice-etal-2016-automatic,
    title = "Automatic Extraction of Learner Errors in {ESL} Sentences Using Linguistically Enhanced Alignments",
    author = "Felice, Mariano and Bryant, Christopher and Briscoe, Ted",
    booktitle = "Proceedings of COLING 2016, the 26th International Conference on Computational Linguistics",
    year = "2016",
    pages = "825--835",
    url = "https://aclanthology.org/C16-1079",
}
"""

_DESCRIPTION = """\
ERRANT aligns source and correction with linguistic costs, merges and classifies the differences into typed edits, and
compares the edits of a system with those of annotators: precision, recall and F0.5, overall and for each error type,
for correction and for detection. With `average="sentence"` it is SentERRANT, the mean of the sentences' F.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): F of all edits, or the mean of `scores` with `average="sentence"`; in [0, 1], higher is better.
    scores (`list` of `float`): F of each sentence, in [0, 1].
    precision, recall, f, tp, fp, fn (`float`): Of all edits, whatever the average.
    by_type (`dict`): The same for each type: `by_type["operation"]["R"]`, `by_type["main"]["VERB:SVA"]`,
        `by_type["full"]["R:VERB:SVA"]`.
    annotators (`list` of `int`): The annotator, or the index of the reference, that each sentence was compared with.
"""


class Errant(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/P17-1074", "https://aclanthology.org/C16-1079"]
    codebase_urls = ["https://github.com/chrisjbryant/errant"]
