"""BARTScore: how probable a sequence-to-sequence model finds a correction, given its reference."""

import geceval.hub.evaluate_module  # From: geceval[neural]

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

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean over the sentences, at most 0; higher is better.
    scores (`list` of `float`): One a sentence, natural logarithms; of several references the best counts.
"""


class Bartscore(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://proceedings.neurips.cc/paper/2021/hash/e4d2b6e6fdeca3e60e0f1a62fee3d9dd-Abstract.html"]
