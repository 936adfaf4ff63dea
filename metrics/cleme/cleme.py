"""CLEME: precision, recall and F of chunks on which the system and all references are aligned."""

import geceval.hub.module  # From: geceval[edits]

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

_KWARGS_DESCRIPTION = """
Args:
    sources (`list` of `str`): Tokenised source sentences, tokens separated by white space.
    predictions (`list` of `str`): Tokenised corrections, one per sentence.
    references (`list` of `list` of `str`): One list of references, or one string, per sentence; their edits are
        extracted by ERRANT. Not needed with `gold_m2`.
    assumption (`str`, *optional*, defaults to `"dependent"`): `"dependent"`, or `"independent"`.
    weights (`str`, *optional*, defaults to `"length"`): `"none"`, `"length"`, or `"similarity"`.
    average (`str`, *optional*, defaults to `"corpus"`): `"corpus"`, or `"sentence"` for SentCLEME.
    preset (`str`, *optional*): Take the length weights of `"corpus"` or `"sentence"`; by default those of `average`.
    level (`str`, *optional*, defaults to `"correction"`): `"detection"` only asks which chunks are changed.
    beta (`float`, *optional*, defaults to 0.5): Weight of recall.
    merge_distance (`int`, *optional*, defaults to 0): Edits with at most so many tokens between them share a chunk.
    drop_unchanged_references (`bool`, *optional*, defaults to `False`): Of several references, leave out those that
        equal the source.
    drop_identity (`bool`, *optional*, defaults to `False`): Count a chunk that edits leave as it was as unchanged.
    behaviour (`str`, *optional*, defaults to `"paper"`): `"head"` or `"v1"` for the authors' programs of 2025 and 2023
        with their defects; see the card.
    model (`str`, *optional*, defaults to `"bundled"`): Encoder for weights by similarity.
    gold_m2 (`str`, *optional*): M2 file with the edits of the references.
    predictions_m2 (`str`, *optional*): M2 file with the edits of the predictions.
    nlp (`str`, *optional*): spaCy pipeline for ERRANT, by name or folder, or `"bundled"`.

Returns:
    score (`float`): F of the corpus, or the mean of `scores` with `average="sentence"`; in [0, 1], higher is better.
    scores (`list` of `float`): F of each sentence with the reference that is best for it, in [0, 1].
    precision, recall, f, accuracy (`float`): In [0, 1].
    tp, fp, fn, tn (`float`): Sums of chunk weights.
    signature (`str`): What was computed.

Examples:

    >>> import geceval
    >>> cleme = geceval.load("cleme")
    >>> result = cleme.compute(
    ...     sources=["He go to school every days .", "I has a cat ."],
    ...     predictions=["He goes to school every days .", "I have a dog ."],
    ...     references=[["He goes to school every day .", "He went to school every day ."], ["I have a cat ."]],
    ...     weights="none",
    ... )
    >>> result["tp"], result["fp"], result["fn"]
    (2.0, 1.0, 1.0)
    >>> result["score"]
    0.6667
"""


class Cleme(geceval.hub.module.Module):
    reference_urls = ["https://aclanthology.org/2023.emnlp-main.378"]
    codebase_urls = ["https://github.com/THUKElab/CLEME"]
