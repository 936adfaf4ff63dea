"""BARTScore: how probable a sequence-to-sequence model finds a correction, given its reference."""

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
    sources (`list` of `str`): What the learner wrote, one string per sentence; only checked.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references (`list` of `list` of `str`): One list of references per sentence, or one string per sentence.
    model (`str`, *optional*, defaults to `"facebook/bart-large-cnn"`): A sequence-to-sequence model: a folder, or a Hub
        id, optionally with `@revision`.
    max_length (`int`, *optional*): Tokens beyond which a text is cut; by default what the network reads, at most 1024.

Returns:
    score (`float`): Mean over the sentences, at most 0; higher is better.
    scores (`list` of `float`): One a sentence, natural logarithms; of several references the best counts.
    signature (`str`): What was computed, with the hash of the model.

Examples:

    bartscore = geceval.load("bartscore", model="facebook/bart-large-cnn")
    bartscore.compute(sources=sources, predictions=predictions, references=references)["score"]
"""


class Bartscore(geceval.hub.module.Module):
    reference_urls = ["https://proceedings.neurips.cc/paper/2021/hash/e4d2b6e6fdeca3e60e0f1a62fee3d9dd-Abstract.html"]
