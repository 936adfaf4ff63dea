"""Scribendi Score: whether a language model likes a correction better than its source, summed over sentences."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@inproceedings{islam-magnani-2021-end,
    title = "Is this the end of the gold standard? A straightforward reference-less grammatical error correction
        metric",
    author = "Islam, Md Asadul and Magnani, Enrico",
    booktitle = "Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing",
    year = "2021",
    pages = "3009--3015",
    url = "https://aclanthology.org/2021.emnlp-main.239",
}
"""

_DESCRIPTION = """\
Scribendi Score gives a sentence 0 if it was left alone, 1 if a causal language model finds the correction less
perplexing than the source and both are similar enough, else -1; the corpus score is the sum. It needs no references.
No causal language model is bundled: the default, GPT-2, comes from the Hub, and `model=` takes a folder, or "smollm2".
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Sum over the sentences, between minus and plus their number; higher is better.
    scores (`list` of `float`): One a sentence: -1, 0 or 1.
    positive, unchanged, negative (`int`): How many sentences have 1, 0 and -1.
"""


class Scribendi(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2021.emnlp-main.239"]
