"""CLEME2.0: what share is corrected rightly, wrongly, not at all, and without need."""

import geceval.hub.evaluate_module  # From: geceval[edits,neural]

_CITATION = """\
@misc{ye-etal-2024-cleme2,
    title = "{CLEME2.0}: Towards Interpretable Evaluation by Disentangling Edits for Grammatical Error Correction",
    author = "Ye, Jingheng and Xu, Zishan and Li, Yinghui and Cheng, Xuxin and Song, Linlin and Zhou, Qingyu and
        Zheng, Hai-Tao and Shen, Ying and Su, Xin",
    year = "2024",
    note = "ACL 2025",
    url = "https://arxiv.org/abs/2407.00934",
}
"""

_DESCRIPTION = """\
CLEME2.0 divides source, system output and all references into the same chunks and tells four things apart: hits (needed
and right), wrong corrections (needed, but not this), under-corrections (needed and missing) and over-corrections (not
needed). The score is a weighted sum of Hit, 1 - Wrong, 1 - Under and 1 - Over. By default chunks are weighted by how
much they change the BERTScore with the reference.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): The weighted sum, in [0, 1]; higher is better.
    scores (`list` of `float`): That of each sentence with the reference that is best for it, in [0, 1].
    hit, wrong, under (`float`): Shares of the chunks that need correction; they add up to 1 if there are any.
    over (`float`): Share of unnecessary changes among all changes, in [0, 1].
    tp, fp_ne, fp_un, fn, tn (`float`): Sums of chunk weights: hits, wrong, unnecessary, missed, rightly left alone.
"""


class Cleme2(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://arxiv.org/abs/2407.00934"]
    codebase_urls = ["https://github.com/THUKElab/CLEME"]
