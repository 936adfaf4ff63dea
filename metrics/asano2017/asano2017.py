"""Grammaticality, fluency by a language model and METEOR against the source, reference-free."""

import geceval.hub.evaluate_module  # From: geceval[lm,meteor]

_CITATION = """\
@inproceedings{asano-etal-2017-reference,
    title = "Reference-based Metrics can be Replaced with Reference-less Metrics in Evaluating Grammatical Error
        Correction Systems",
    author = "Asano, Hiroki and Mizumoto, Tomoya and Inui, Kentaro",
    booktitle = "Proceedings of the Eighth International Joint Conference on Natural Language Processing (Volume 2:
        Short Papers)",
    year = "2017",
    pages = "343--348",
    url = "https://aclanthology.org/I17-2058",
}
"""

_DESCRIPTION = """\
The reference-free baseline of 2017: a weighted sum of the grammaticality of a correction, here the share of its words
in which an error detector finds none, its fluency, SLOR under a language model, and its METEOR against the source.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores; higher is better.
    scores (`list` of `float`): One score per sentence.
    grammaticality, fluency, meaning (`float`): Means of the sub-scores.
    grammaticality_scores, fluency_scores, meaning_scores (`list` of `float`): One sub-score per sentence.
"""


class Asano2017(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/I17-2058", "https://aclanthology.org/2020.coling-main.573"]
