"""M2 with edits weighted by BERTScore or BARTScore."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@inproceedings{gong-etal-2022-revisiting,
    title = "Revisiting Grammatical Error Correction Evaluation and Beyond",
    author = "Gong, Peiyuan and Liu, Xuebo and Huang, Heyan and Zhang, Min",
    booktitle = "Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing",
    year = "2022",
    pages = "6891--6902",
    url = "https://aclanthology.org/2022.emnlp-main.463",
}
"""

_DESCRIPTION = """\
PT-M2 is MaxMatch (M2) with weighted edits: an edit weighs as much as making it alone changes the similarity of the
source to the reference in the eyes of a pre-trained model. Precision, recall and F are those of the weights.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): In [0, 1]; higher is better.
    scores (`list` of `float`): F of each sentence, with the reference that suits it best.
    precision, recall, f, tp, fp, fn (`float`): Weights over the corpus, whatever the average.
    annotators (`list` of `int`): Whose gold edits the corpus counts took for each sentence.
"""


class PtM2(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2022.emnlp-main.463"]
    codebase_urls = ["https://github.com/pygongnlp/PT-M2"]
