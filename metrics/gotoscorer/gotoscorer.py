"""F-score of edits in which a correction counts the more, the fewer systems get it right."""

import geceval.hub.evaluate_module  # From: geceval[edits]

_CITATION = """\
@inproceedings{gotou-etal-2020-taking,
    title = "Taking the Correction Difficulty into Account in Grammatical Error Correction Evaluation",
    author = "Gotou, Takumi and Nagata, Ryo and Mita, Masato and Hanawa, Kazuaki",
    booktitle = "Proceedings of the 28th International Conference on Computational Linguistics",
    year = "2020",
    pages = "2085--2095",
    url = "https://aclanthology.org/2020.coling-main.188",
}
"""

_DESCRIPTION = """\
GoToScorer weighs each correction by its difficulty, the share of systems that get it wrong, and computes precision,
recall, F and accuracy with these weights. Text that needs no correction has a difficulty too: that of leaving it alone.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): F_beta over weighted chunks, in [0, 1]; higher is better.
    scores (`list` of `float`): F_beta of each sentence.
    precision, recall, f, f1, accuracy (`float`): In [0, 1].
    tp, fp, fn, tn (`float`): Summed weights.
    systems (`int`): How many systems define the weights; 0 if they are uniform.
"""


class Gotoscorer(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2020.coling-main.188"]
    codebase_urls = ["https://github.com/gotutiyan/GTS"]
