"""GLEU for grammatical error correction, not the GLEU of machine translation."""

import geceval.hub.evaluate_module  # From: geceval

_CITATION = """\
@inproceedings{napoles-etal-2015-ground,
    title = "Ground Truth for Grammatical Error Correction Metrics",
    author = "Napoles, Courtney and Sakaguchi, Keisuke and Post, Matt and Tetreault, Joel",
    booktitle = "Proceedings of the 53rd Annual Meeting of the Association for Computational Linguistics and the
        7th International Joint Conference on Natural Language Processing (Volume 2: Short Papers)",
    year = "2015",
    pages = "588--593",
    url = "https://aclanthology.org/P15-2097",
}
@article{napoles-etal-2016-gleu,
    title = "{GLEU} Without Tuning",
    author = "Napoles, Courtney and Sakaguchi, Keisuke and Post, Matt and Tetreault, Joel",
    journal = "arXiv preprint arXiv:1605.02592",
    year = "2016",
    url = "https://arxiv.org/abs/1605.02592",
}
"""

_DESCRIPTION = """\
GLEU (Napoles et al., 2015 and 2016) for grammatical error correction, not to be confused with Google's GLEU for machine
translation (`google_bleu` in evaluate). It is BLEU with the source: an n-gram that the prediction shares with the
source but not with the reference counts against it.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): GLEU of the corpus, in [0, 1]; higher is better. The mean over the draws.
    scores (`list` of `float`): GLEU of each sentence, the mean over its references, in [0, 1].
    sd (`float`): Standard deviation over the draws.
"""


class Gleu(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/P15-2097", "https://arxiv.org/abs/1605.02592"]
    codebase_urls = ["https://github.com/cnap/gec-ranking"]
