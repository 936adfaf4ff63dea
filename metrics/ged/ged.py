"""Error detection: precision, recall and F over tokens, or how free of errors a detector finds a sentence."""

import geceval.hub.evaluate_module  # From: geceval[edits,neural]

_CITATION = """\
@inproceedings{yuan-etal-2021-multi,
    title = "Multi-Class Grammatical Error Detection for Correction: A Tale of Two Systems",
    author = "Yuan, Zheng and Taslimipoor, Shiva and Davis, Christopher and Bryant, Christopher",
    booktitle = "Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing",
    year = "2021",
    pages = "8722--8736",
    url = "https://aclanthology.org/2021.emnlp-main.687",
}
"""

_DESCRIPTION = """\
Grammatical error detection marks the tokens of a sentence that are in error. This metric compares the marks of a
system, of a detector, or of corrected sentences with those of references, token by token, in 2, 4, 25 or 55 classes.
With `task="sentence"` it needs no references: a corrected sentence is scored by how probable a detector finds it that
its words are correct.
"""

_KWARGS_DESCRIPTION = """
Args:
    sources (`list` of `str`): Tokenised sentences, tokens separated by white space.
    predictions (`list` of `str`): Label sequences, one label per token of the source (`"c i c"`, `"CORRECT R:DET"`,
        ids), or corrected sentences, whose ERRANT edits are turned into labels. With `model`, the sources once more.
    references (`list` of `list` of `str`): Label sequences or corrected sentences, one list per sentence, or one string
        per sentence; not needed with `gold_m2` or `task="sentence"`.

Returns:
    score (`float`): F, binary or macro, in [0, 1]; or the mean of `scores`, at most 0. Higher is better.
    scores (`list` of `float`): F of each sentence, or the mean of log P(correct) over its words.
    precision, recall, f, tp, fp, fn (`float`): Of errors against correct tokens, whatever the average. Detection only.
    macro_precision, macro_recall, macro_f (`float`): Over the classes that occur, CORRECT included. Detection only.
    by_class (`dict`): `by_class["SPELL"]["recall"]` and so on, for the classes that occur. Detection only.
    annotators (`list` of `int`): The reference that each sentence was compared with. Detection only.
"""


class Ged(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/2021.emnlp-main.687"]
    codebase_urls = ["https://github.com/gotutiyan/ged_baselines"]
