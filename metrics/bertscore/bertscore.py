"""BERTScore: token similarity of a correction to its references, by any encoder, offline with the bundled one."""

import evaluate

import geceval.hub.module  # From: geceval[neural]

_CITATION = """\
@inproceedings{zhang2020bertscore,
  title     = {BERTScore: Evaluating Text Generation with BERT},
  author    = {Tianyi Zhang and Varsha Kishore and Felix Wu and Kilian Q. Weinberger and Yoav Artzi},
  booktitle = {International Conference on Learning Representations},
  year      = {2020}
}
"""

_DESCRIPTION = """\
BERTScore compares the token states of a correction and of a reference inside an encoder: each token takes its most
similar token on the other side. On its own it correlates poorly with human ratings of grammatical error correction,
since a correction changes few words; it is here because PT-M2 and PT-ERRANT weigh edits with it.
"""

_KWARGS_DESCRIPTION = """
Args:
    sources: list of str, one a sentence; not used.
    predictions: list of str, one correction a sentence.
    references: list of lists of str, one list of references a sentence (or one str a sentence).
    model (`str`, *optional*, defaults to `"bundled"`): the encoder: `"bundled"`, a folder, or a Hub id with or
        without `@revision`.
    layer (`int`, *optional*): whose token states are compared, from 1; by default the published layer of a known
        encoder, else five sixths of the way up.
    idf (`bool`, *optional*, defaults to `False`): weigh tokens by inverse document frequency in the references.
    baseline (`tuple` of three floats, *optional*): precision, recall and F1 of unrelated texts, for rescaling.
    max_length (`int`, *optional*): tokens beyond which a text is cut; by default what the network reads, at most 512.

Returns:
    `score` (float): mean F1, 1 at best.
    `scores` (list of float): one F1 a sentence.
    `precision`, `recall`, `f` (float): means over the sentences.
    `precisions`, `recalls` (lists of float): one a sentence.
    `signature` (str): what was computed.

Examples:
    >>> import geceval
    >>> bertscore = geceval.load("bertscore")
    >>> result = bertscore.compute(
    ...     sources=["He go to school .", "I has a cat ."],
    ...     predictions=["He goes to school .", "I had a dog ."],
    ...     references=[["He goes to school ."], ["I have a cat ."]],
    ... )
    >>> [round(score, 2) for score in result["scores"]]
    [1.0, 0.8]
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Bertscore(geceval.hub.module.Module):
    reference_urls = ["https://openreview.net/forum?id=SkeHuCVFDr"]

    def scorer_class(self):
        from geceval.scorers.bertscore import Bertscore

        return Bertscore

    def _info(self):
        return self.describe(_DESCRIPTION, _CITATION, _KWARGS_DESCRIPTION)
