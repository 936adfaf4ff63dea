"""Precision, recall and F of edits, cut so that as many as possible match the gold edits."""

import geceval.hub.evaluate_module  # From: geceval

_CITATION = """\
@inproceedings{dahlmeier-ng-2012-better,
    title = "Better Evaluation for Grammatical Error Correction",
    author = "Dahlmeier, Daniel and Ng, Hwee Tou",
    booktitle = "Proceedings of the 2012 Conference of the North {A}merican Chapter of the Association for Computational
        Linguistics: Human Language Technologies",
    year = "2012",
    pages = "568--572",
    url = "https://aclanthology.org/N12-1067",
}
"""

_DESCRIPTION = """\
M2 (MaxMatch) cuts the difference between source and correction into edits such that as many of them as possible match
the gold edits of an annotator, and gives precision, recall and F0.5 of the edits, as the official scorer of the
CoNLL-2013 and CoNLL-2014 shared tasks does. With `average="sentence"` it is SentM2, the mean of the sentences' F.
"""

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): F of all edits, or the mean of `scores` with `average="sentence"`; in [0, 1], higher is better.
    scores (`list` of `float`): F of each sentence, in [0, 1].
    precision, recall, f, tp, fp, fn (`float`): Of all edits, whatever the average.
    annotators (`list` of `int`): The annotator, or the index of the reference, that each sentence was compared with.
    single_path (`list` of `int`): Sentences, from 0, too different from their source to be searched in full.
"""


class M2(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://aclanthology.org/N12-1067"]
    codebase_urls = ["https://github.com/nusnlp/m2scorer"]
