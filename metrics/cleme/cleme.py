"""CLEME: precision, recall and F of chunks on which the system and all references are aligned."""

import geceval.hub.evaluate_module  # From: geceval[edits]

_CITATION = """\
@inproceedings{ye-etal-2023-cleme,
    title = "{CLEME}: Debiasing Multi-reference Evaluation for Grammatical Error Correction",
    author = "Ye, Jingheng and Li, Yinghui and Zhou, Qingyu and Li, Yangning and Ma, Shirong and Zheng, Hai-Tao and
        Shen, Ying",
    booktitle = "Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing",
    year = "2023",
    url = "https://aclanthology.org/2023.emnlp-main.378",
}
"""

_DESCRIPTION = """\
CLEME divides source, system output and all references into the same sequence of chunks, so that an edit has the same
borders whoever made it, and computes precision, recall, F and accuracy over chunks. It compares with one reference at a
time (correction dependence) or chunk by chunk with all of them (correction independence). By default longer corrections
weigh more.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): F of the corpus, or the mean of `scores` with `average="sentence"`; in [0, 1], higher is better.
    scores (`list` of `float`): F of each sentence with the reference that is best for it, in [0, 1].
    precision, recall, f, accuracy (`float`): In [0, 1].
    tp, fp, fn, tn (`float`): Sums of chunk weights.
"""


class Cleme(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2023.emnlp-main.378"]
    codebase_urls = ["https://github.com/THUKElab/CLEME"]
