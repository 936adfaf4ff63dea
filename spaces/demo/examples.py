"""Sentences to try the page with; all of them were made up for it."""

SCORE = {
    "partly corrected": [
        "Him and me was late because the train were cancel.",
        "He and I was late because the train was cancelled.",
        "He and I were late because the train was cancelled.",
    ],
    "all corrected": [
        "She have lived in Lisbon since three years.",
        "She has lived in Lisbon for three years.",
        "She has lived in Lisbon for three years.\nShe has been living in Lisbon for three years.",
    ],
    "unchanged": [
        "The soup was cold, so we send it back.",
        "The soup was cold, so we send it back.",
        "The soup was cold, so we sent it back.",
    ],
    "over-corrected": [
        "I enjoy to read at night.",
        "Reading novels after sunset is among my greatest joys.",
        "I enjoy reading at night.",
    ],
    "another meaning": ["My sister have two cats.", "My brother has two dogs.", "My sister has two cats."],
    "several edits": [
        "I wanted make a photo of castle with my new phone.",
        "I wanted to take a photo of the castle with my new phone.",
        "I wanted to take a photo of the castle with my new phone.",
    ],
    "nothing to correct": [
        "The bakery opens at seven.",
        "The bakery opens at seven.",
        "The bakery opens at seven.",
    ],
}
"""What happened to it, to source, correction and references."""

IMPACTS = {
    "four edits": [
        "Him and me was late because the train were cancel.",
        "He and I were late because the train was cancelled.",
        "He and I were late because the train was cancelled.",
    ],
    "another meaning": [
        "My sister have two cats which sleeps the whole day on sofa.",
        "My brother has two cats which sleep the whole day on the sofa.",
        "My sister has two cats which sleep the whole day on the sofa.",
    ],
    "small edits": [
        "We was very tired , because of we walked all the morning .",
        "We were very tired because we walked all morning .",
        "We were very tired because we had walked all morning .",
    ],
}
"""What happened to it, to source, correction and references."""

DETECT = {
    "agreement": ["Him and me was late because the train were cancel."],
    "verb forms": ["I has never saw such a beautiful garden like this."],
    "no errors": ["The bakery on the corner opens at seven, even on Sundays."],
    "word order": ["Despite of the rain, we enjoyed very much the concert."],
}
"""What is wrong with it, to a text."""

CHUNKS = {
    "two references": [
        "Him and me was late because the train were cancel.",
        "He and I was late because the train is cancelled.",
        "He and I were late because the train was cancelled.\nHe and I were late because they had cancelled the train.",
    ],
    "a wrong word": [
        "She have lived in Lisbon since three years.",
        "She has lived at Lisbon for three years.",
        "She has lived in Lisbon for three years.\nShe has been living in Lisbon for three years.",
    ],
    "too much": [
        "I enjoy to read at night.",
        "I enjoy reading during the night.",
        "I enjoy reading at night.\nI like to read at night.",
    ],
}
"""What happened to it, to source, correction and references."""
