"""F-score of edits that counts hard corrections for more, as several systems find them hard."""

import geceval.hub.module  # From: geceval[edits]

_CITATION = """\
@inproceedings{gotou-etal-2020-taking,
    title = "Taking the Correction Difficulty into Account in Grammatical Error Correction Evaluation",
    author = "Gotou, Takumi and Nagata, Ryo and Mita, Masato and Hanawa, Kazuaki",
    booktitle = "Proceedings of the 28th International Conference on Computational Linguistics",
    year = "2020",
    pages = "2085--2095",
    url = "https://aclanthology.org/2020.coling-main.188",
}
"""

_DESCRIPTION = """\
GoToScorer weighs each correction by its difficulty, the share of systems that get it wrong, and computes precision,
recall, F and accuracy with these weights. Text that needs no correction has a difficulty too: that of leaving it alone.
"""

_KWARGS_DESCRIPTION = """
Args:
    sources (`list` of `str`): What the learner wrote, one tokenised string per sentence.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references (`list` of `list` of `str`): One list of references per sentence, or one string per sentence.
    weights (`str`, *optional*): A weight file (see `geceval weights`), or `"uniform"`: every chunk weighs 1. Without
        `weights` and `systems` they are uniform too, with a warning.
    systems (`list` of `list` of `str`, *optional*): Instead of `weights`, predictions of all systems that define the
        difficulty, one list per system. In the authors' program the scored systems do.
    gold_m2 (`str`, *optional*): An M2 file whose edits are the reference, spans as they stand there.
    predictions_m2 (`str`, *optional*): An M2 file with the edits of the predictions; needs `weights`.
    ref_id (`int`, *optional*): Annotator of `gold_m2`, or index in each list of `references`, from 0. By default each
        sentence takes the reference that gives it the best F. A weight file belongs to one reference.
    beta (`float`, *optional*, defaults to 0.5): Weight of recall.
    average (`str`, *optional*, defaults to `"corpus"`): `"sentence"` makes `score` the mean of `scores`.
    a, b, c (`float`, *optional*, default to 1, 0, 0): What k of N systems get right weighs a - (k + b) / (N + c).
    zero_division (`int`, *optional*, defaults to 0): Precision of no proposal, recall of nothing to find: 0 or 1.
    covered_insertion (`str`, *optional*, defaults to `"wrong"`): An insertion of the reference inside a longer edit of
        the system is `"wrong"`, as in the authors' program, or `"correct"`, as in gec-metrics.
    nlp (`str`, *optional*): spaCy pipeline for ERRANT, which finds the edits of the predictions.

Returns:
    score (`float`): F_beta over weighted chunks, in [0, 1]; higher is better.
    scores (`list` of `float`): F_beta of each sentence.
    precision, recall, f, f1, accuracy (`float`): In [0, 1].
    tp, fp, fn, tn (`float`): Summed weights.
    systems (`int`): How many systems define the weights; 0 if they are uniform.
    signature (`str`): What was computed.

Examples:

    >>> import geceval
    >>> gotoscorer = geceval.load("gotoscorer")
    >>> systems = [["He likes the cat ."], ["He likes cat ."], ["He like cat ."]]
    >>> result = gotoscorer.compute(
    ...     sources=["He like cat ."],
    ...     predictions=systems[1],
    ...     references=["He likes the cat ."],
    ...     systems=systems,
    ... )
    >>> round(result["precision"], 4), round(result["recall"], 4), round(result["score"], 4)
    (1.0, 0.3333, 0.7143)
"""


class Gotoscorer(geceval.hub.module.Module):
    reference_urls = ["https://aclanthology.org/2020.coling-main.188"]
    codebase_urls = ["https://github.com/gotutiyan/GTS"]
