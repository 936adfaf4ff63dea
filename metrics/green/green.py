"""GREEN: precision and recall of n-grams that were rightly kept, inserted or deleted."""

import geceval.hub.evaluate_module  # From: geceval

_CITATION = """\
@inproceedings{koyama-etal-2024-n-gram,
    title = "n-gram {F}-score for Evaluating Grammatical Error Correction",
    author = "Koyama, Shota and Nagata, Ryo and Takamura, Hiroya and Okazaki, Naoaki",
    booktitle = "Proceedings of the 17th International Natural Language Generation Conference",
    year = "2024",
    url = "https://aclanthology.org/2024.inlg-main.25",
}
"""

_DESCRIPTION = """\
GREEN (Koyama et al., 2024) is an F-score over n-grams: what the correction rightly keeps, inserts and deletes is a true
positive, what it wrongly inserts or deletes a false positive, and what it should have inserted or deleted a false
negative. Precision and recall are geometric means over the orders 1 to 4.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): F of the corpus, in [0, 1]; higher is better.
    scores (`list` of `float`): F of each sentence with its best reference, in [0, 1].
    precision, recall, f (`float`): Of the corpus; `f` is `score`.
"""


class Green(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2024.inlg-main.25"]
    codebase_urls = ["https://github.com/shotakoyama/green"]
