"""Share of a correction's edits that are right, with the probability of each, reference-free."""

import geceval.hub.evaluate_module  # From: geceval[edits,neural]

_CITATION = """\
@inproceedings{kobayashi-etal-2024-revisiting,
    title = "Revisiting Meta-evaluation for Grammatical Error Correction",
    author = "Kobayashi, Masamune and Mita, Masato and Komachi, Mamoru",
    journal = "Transactions of the Association for Computational Linguistics",
    volume = "12",
    year = "2024",
}
"""

_DESCRIPTION = """\
Edit quality judges each edit of a correction by itself: the probability that it is right, by what a small language
model says of the text before and after it. The score is the share of right edits that is to be expected. An edit that
no annotator made can be right.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Expected share of right edits, in [0, 1]; 1 without edits; higher is better.
    scores (`list` of `float`): The same for each sentence.
    precision, recall, f, tp, fp, fn (`float`): Expected counts: `tp` is the sum of the probabilities, `fp` that of
        their complements, `fn` the runs of words that the bundled detector finds in error in the predictions.
    edits (`list` of `list` of `dict`): For each sentence its edits: `start` and `end` in tokens of the source,
        `correction`, `type`, and `probability`.
"""


class EditQuality(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://arxiv.org/abs/2403.02674"]
