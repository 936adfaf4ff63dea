"""ERRANT with edits matched by optimal transport between their vectors."""

import geceval.hub.evaluate_module  # From: geceval[edits,neural,uot]

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

_KWARGS_DESCRIPTION = """\
Returns:
    score (`float`): In [0, 1] unless `behaviour="published"`; higher is better.
    scores (`list` of `float`): F of each sentence, with the reference that suits it best.
    precision, recall, f, tp, fp, fn (`float`): Masses over the corpus, whatever the average.
    by_type (`dict`): The same numbers for each operation, main type and full type.
    annotators (`list` of `int`): Whose edits the corpus counts took for each sentence.
"""


class UotErrant(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://doi.org/10.1090/mcom/3303"]
    codebase_urls = ["https://github.com/gotutiyan/uot-errant"]
