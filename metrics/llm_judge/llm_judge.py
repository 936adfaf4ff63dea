"""Grades from 1 to 5 by a large language model, for whole corrections or for their edits."""

import geceval.hub.module  # From: geceval[llm]

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

_KWARGS_DESCRIPTION = """
Args:
    sources (`list` of `str`): What the learner wrote, one string per sentence.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references: Not used; dropped if given, so that the metric can be combined with others.
    model (`str`): Name of the model at the endpoint; with `backend="transformers"` a folder or a Hub id.
    backend (`str`, *optional*, defaults to `"endpoint"`): `"endpoint"`, or `"transformers"`, in this process.
    base_url (`str`, *optional*): Address of the endpoint; by default `OPENAI_BASE_URL`, else OpenAI's.
    level (`str`, *optional*, defaults to `"sentence"`): `"edit"` shows the ERRANT edits of each output too.
    criterion (`str`, *optional*, defaults to `"none"`): Or `"grammaticality"`, `"fluency"`, `"meaning"`.
    temperature, seed, max_tokens (*optional*, default to 0.0, 0 and 256): Sent to the endpoint; `None` leaves one out.
    response_format (`str`, *optional*, defaults to `"json_object"`): Or `"json_schema"`, or `"text"`.
    on_failure (`str`, *optional*, defaults to `"raise"`): `"skip"` leaves out sentences without a valid grade.
    systems (`list` of `list` of `str`, *optional*): Predictions of systems that share prompts, one list per system.
    nlp (`str`, *optional*): spaCy pipeline for ERRANT (level `"edit"`).
    api_key_env (`str`, *optional*, defaults to `"OPENAI_API_KEY"`): Environment variable with the key; `None` for none.
    cache (`str`, *optional*): Folder that keeps valid answers, so that none is paid for twice.
    concurrency, retries, timeout (*optional*, default to 4, 4 and 60.0 seconds): How the endpoint is asked.
    price_per_million (*optional*): What a million tokens cost, `(read, written)`, for `cost`.

Returns:
    score (`float`): Mean of the grades, in [1, 5]; higher is better.
    scores (`list` of `float`): One grade per sentence, 1.0 to 5.0; NaN where there is none (`on_failure="skip"`).
    judged, failed (`int`), failed_rows (`list` of `int`), failures (`dict`): Which rows have no grade, and why.
    calls, cached (`int`), errors (`dict`): Requests, answers from the cache, requests without a valid answer by kind.
    prompt_tokens, completion_tokens, uncounted (`int`): As stated; answers for which the endpoint stated none.
    cost (`float` or `None`): Of this call, if `price_per_million` is given.
    signature (`str`): What was computed, with a hash of the prompt's wording.

Examples:

    judge = geceval.load("llm_judge", model="gpt-4o-2024-08-06", criterion="fluency", cache="answers")
    judge.compute(sources=sources, predictions=predictions)["score"]
"""


class LlmJudge(geceval.hub.module.Module):
    reference_urls = ["https://aclanthology.org/2024.bea-1.6"]
