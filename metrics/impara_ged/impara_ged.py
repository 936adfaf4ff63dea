"""Reference-free quality of the corrected sentence, by an encoder that learnt to find errors first."""

import geceval.hub.evaluate_module  # From: geceval[neural]

_CITATION = """\
@inproceedings{sakai-etal-2025-impara,
    title = "{IMPARA}-{GED}: Grammatical Error Detection is Boosting Reference-free Grammatical Error Quality
        Estimator",
    author = "Sakai, Yusuke and Goto, Takumi and Watanabe, Taro",
    booktitle = "Findings of the Association for Computational Linguistics: ACL 2025",
    year = "2025",
}
"""

_DESCRIPTION = """\
IMPARA-GED scores a corrected sentence without references and without its source: a quality estimator as in IMPARA, but
built on an encoder that was trained for grammatical error detection first, reading the mean of all token states, and
without IMPARA's similarity estimator.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores, in [0, 1]; higher is better.
    scores (`list` of `float`): One score per sentence, in [0, 1].
"""


class ImparaGED(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://huggingface.co/naist-nlp/IMPARA-GED"]
    codebase_urls = ["https://github.com/gotutiyan/gec-metrics"]
