"""Reference-free quality of the corrected sentence, by a language model that learnt which edits matter."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@inproceedings{maeda-etal-2022-impara,
    title = "{IMPARA}: Impact-Based Metric for {GEC} Using Parallel Data",
    author = "Maeda, Koki and Kaneko, Masahiro and Okazaki, Naoaki",
    booktitle = "Proceedings of the 29th International Conference on Computational Linguistics",
    year = "2022",
}
"""

_DESCRIPTION = """\
IMPARA-LM scores a corrected sentence without references: by the likelihood and the token states of a causal language
model that learnt, as the quality estimator of IMPARA does, to prefer of two partial corrections the one whose edits
matter more. By default it is a small student of that model, which ships with geceval; the large one ranks systems more
as people do, and is an adapter over SmolLM2-135M, which is found in an installed package or on the Hub.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores; higher is better.
    scores (`list` of `float`): One score per sentence, of any size; the difference of two corrections of one source is
        the log-odds that the first is better.
    failed (`int`): Sentences that did not pass the threshold.
"""


class ImparaLM(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2022.coling-1.316"]
