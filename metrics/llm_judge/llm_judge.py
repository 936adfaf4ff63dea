"""Grades from 1 to 5 by a large language model, for whole corrections or for their edits."""

import geceval.hub.evaluate_module  # From: geceval[llm]

_CITATION = """\
@inproceedings{kobayashi-etal-2024-large,
    title = "Large Language Models Are State-of-the-Art Evaluator for Grammatical Error Correction",
    author = "Kobayashi, Masamune and Mita, Masato and Komachi, Mamoru",
    booktitle = "Proceedings of the 19th Workshop on Innovative Use of NLP for Building Educational Applications",
    year = "2024",
    url = "https://aclanthology.org/2024.bea-1.6",
}
"""

_DESCRIPTION = """\
A large language model grades corrections from 1 to 5, without references: as a whole, or for grammaticality, fluency or
meaning, and by whole sentences or by their edits. Up to five distinct outputs of a sentence share a prompt. No model is
bundled: name one at an OpenAI-compatible endpoint, or a causal language model in a folder or on the Hub.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean of the grades, in [1, 5]; higher is better.
    scores (`list` of `float`): One grade per sentence, 1.0 to 5.0; NaN where there is none (`on_failure="skip"`).
    judged, failed (`int`), failed_rows (`list` of `int`), failures (`dict`): Which rows have no grade, and why.
    calls, cached (`int`): Questions asked, and answers from the cache.
    prompt_tokens, completion_tokens (`int`): As the endpoint states them.
"""


class LlmJudge(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2024.bea-1.6"]
