"""ERRANT with edits matched by optimal transport between their vectors."""

import geceval.hub.module  # From: geceval[edits,neural]

_CITATION = """\
@software{uot-errant,
    title = "UOT-ERRANT",
    year = "2026",
    url = "https://github.com/gotutiyan/uot-errant",
}
"""

_DESCRIPTION = """\
UOT-ERRANT turns the edits of system and reference into vectors, by what each changes in the sentence as an encoder sees
it, and matches them by unbalanced optimal transport. An edit that is near one of the reference counts in part.
Precision, recall and F are those of the mass that is transported.
"""

_KWARGS_DESCRIPTION = """
Args:
    sources (`list` of `str`): What the learner wrote, tokenised, one string per sentence.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references (`list` of `list` of `str`): One list of references per sentence; not needed with `gold_m2`.
    model (`str`, *optional*, defaults to `"bundled"`): The encoder; the published one is
        `google/electra-base-discriminator`.
    max_length (`int`, *optional*): Tokens beyond which a text is cut; 128 unless the checkpoint says otherwise.
    vectors (`str`, *optional*, defaults to `"ref-remove"`): What an edit's vector is: the difference that it makes when
        all others are made, or, with `"src-add"`, when it alone is made.
    mass (`str`, *optional*, defaults to `"norm"`): What an edit weighs: `"norm"`, the length of its vector, or
        `"uniform"`, one over the number of edits.
    cost (`str`, *optional*, defaults to `"euclidean"`): How far two edits are apart: `"euclidean"` or `"cosine"`.
    reg, reg_m (`float`, *optional*, default to 0.1): Strengths of the entropic regularisation, and with which all mass
        is to be transported.
    behaviour (`str`, *optional*, defaults to `"normalised"`): `"normalised"`, in which identical edits score 1, or
        `"published"`, in which they may score less or more.
    average (`str`, *optional*, defaults to `"corpus"`): `"corpus"` or `"sentence"`: what `score` is.
    beta (`float`, *optional*, defaults to 0.5): Weight of recall in F.
    gold_m2 (`str`, *optional*): M2 file with the edits of the references.
    predictions_m2 (`str`, *optional*): M2 file with the edits of the system.
    nlp (`str`, *optional*, defaults to `"bundled"`): spaCy pipeline of ERRANT: `"bundled"`, `"official"`
        (`en_core_web_sm`, if it is installed), the name of another installed one, or a folder.

Returns:
    score (`float`): In [0, 1] unless `behaviour="published"`; higher is better.
    scores (`list` of `float`): F of each sentence, with the reference that suits it best.
    precision, recall, f, tp, fp, fn (`float`): Masses over the corpus, whatever the average.
    by_type (`dict`): The same numbers for each operation, main type and full type.
    annotators (`list` of `int`): Whose edits the corpus counts took for each sentence.
    signature (`str`): What was computed, with the model and its hash.

Examples:

    >>> import geceval
    >>> uot_errant = geceval.load("uot_errant")
    >>> result = uot_errant.compute(
    ...     sources=["He go to school by the bus .", "It is fine ."],
    ...     predictions=["He goes to school by the bus .", "It is fine ."],
    ...     references=[["He goes to school by bus ."], ["It is fine ."]],
    ... )
    >>> result["scores"][1]
    1.0
    >>> result["precision"] > result["recall"] > 0
    True
"""


class UotErrant(geceval.hub.module.Module):
    reference_urls = ["https://doi.org/10.1090/mcom/3303"]
    codebase_urls = ["https://github.com/gotutiyan/uot-errant"]
