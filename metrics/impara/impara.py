"""Reference-free quality of the corrected sentence, 0 where the meaning is lost."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@inproceedings{maeda-etal-2022-impara,
    title = "{IMPARA}: Impact-Based Metric for {GEC} Using Parallel Data",
    author = "Maeda, Koki and Kaneko, Masahiro and Okazaki, Naoaki",
    booktitle = "Proceedings of the 29th International Conference on Computational Linguistics",
    year = "2022",
    pages = "3578--3588",
    url = "https://aclanthology.org/2022.coling-1.316",
}
"""

_DESCRIPTION = """\
IMPARA scores a correction without references. A quality estimator, trained to prefer corrections whose edits have a
larger impact, reads the corrected sentence; a similarity estimator compares it with the source, and a correction that
is not similar enough scores 0.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores, in [0, 1]; higher is better.
    scores (`list` of `float`): One score per sentence, in [0, 1].
    zeroed (`int`): Sentences that failed the similarity threshold.
"""


class IMPARA(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2022.coling-1.316"]
    codebase_urls = ["https://github.com/Silviase/IMPARA"]
