"""BARTScore: how probable a sequence-to-sequence model finds a correction, given its reference."""

import evaluate

import geceval.hub.module  # From: geceval[neural]

_CITATION = """\
@inproceedings{yuan2021bartscore,
  title     = {BARTScore: Evaluating Generated Text as Text Generation},
  author    = {Weizhe Yuan and Graham Neubig and Pengfei Liu},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2021}
}
"""

_DESCRIPTION = """\
BARTScore is the mean log-probability that a sequence-to-sequence model gives to the tokens of the correction when it
has read the reference. PT-M2 and PT-ERRANT weigh edits with it. No such model is bundled: pass a folder or a Hub id.
"""

_KWARGS_DESCRIPTION = """
Args:
    sources: list of str, one a sentence; not used.
    predictions: list of str, one correction a sentence.
    references: list of lists of str, one list of references a sentence (or one str a sentence).
    model (`str`, *optional*, defaults to `"facebook/bart-large-cnn"`): a sequence-to-sequence model: a folder, or a
        Hub id with or without `@revision`.
    max_length (`int`, *optional*): tokens beyond which a text is cut; by default what the network reads, at most 1024.

Returns:
    `score` (float): mean over the sentences, 0 at best.
    `scores` (list of float): one a sentence, natural logarithms; of several references the best counts.
    `signature` (str): what was computed.

Examples:
    bartscore = geceval.load("bartscore", model="facebook/bart-large-cnn")
    bartscore.compute(sources=sources, predictions=predictions, references=references)["score"]
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Bartscore(geceval.hub.module.Module):
    reference_urls = ["https://proceedings.neurips.cc/paper/2021/hash/e4d2b6e6fdeca3e60e0f1a62fee3d9dd-Abstract.html"]

    def scorer_class(self):
        from geceval.scorers.bartscore import Bartscore

        return Bartscore

    def _info(self):
        return self.describe(_DESCRIPTION, _CITATION, _KWARGS_DESCRIPTION)
