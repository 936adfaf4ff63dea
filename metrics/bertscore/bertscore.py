"""BERTScore: token similarity of a correction to its references, by any encoder, offline with the bundled one."""

import geceval.hub.evaluate_module  # From: geceval[neural]

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

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): Mean F1, at most 1; higher is better.
    scores (`list` of `float`): F1 of each sentence.
    precision, recall, f (`float`): Means over the sentences.
    precisions, recalls (`list` of `float`): One a sentence.
"""


class Bertscore(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://openreview.net/forum?id=SkeHuCVFDr"]
