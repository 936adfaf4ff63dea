"""Answers of language models: what is taken away, and what stays."""

import time

import pytest

from geceval.text.answers import RULES, clean, is_refusal

SOURCE = "She go to school every day ."
RIGHT = "She goes to school every day."

ANSWERS = [
    (RIGHT, ()),
    (f"Here is the corrected sentence: {RIGHT}", ("preamble",)),
    (f"Sure! Here's the corrected sentence:\n\n{RIGHT}", ("preamble",)),
    (f"Certainly! Here’s a revised version with proper grammar:\n\n{RIGHT}", ("preamble",)),
    (f"Corrected: {RIGHT}", ("preamble",)),
    (f"**Corrected sentence:** {RIGHT}", ("preamble",)),
    (f"Output: {RIGHT}", ("preamble",)),
    (f"Sure!\n{RIGHT}", ("preamble",)),
    (f"Sure, here you go: {RIGHT}", ("preamble",)),
    (f'The corrected version of the sentence is:\n\n"{RIGHT}"', ("preamble", "quotes")),
    (f"Original: {SOURCE}\nCorrected: {RIGHT}", ("original", "preamble")),
    (f"```\n{RIGHT}\n```", ("fence",)),
    (f"The verb must agree.\n```text\n{RIGHT}\n```\nI changed one word.", ("fence",)),
    (f'"{RIGHT}"', ("quotes",)),
    (f"“{RIGHT}”", ("quotes",)),
    (f"{RIGHT}\n\nExplanation: the verb agrees with its subject.", ("comment",)),
    (f'{RIGHT}\n\nI changed "go" to "goes".', ("comment",)),
    (f"{RIGHT}\n\n**Changes made:**\n- go → goes", ("comment",)),
    (f"{RIGHT} (Changed 'go' to 'goes'.)", ("comment",)),
    (f"{RIGHT}\n\nLet me know if you need anything else!", ("comment",)),
    ("She **goes** to school every day.", ("markdown",)),
    ("She ~~go~~ **goes** to school every day.", ("markdown",)),
    (f"> {RIGHT}", ("markdown",)),
    (f"- {RIGHT}", ("markdown",)),
    (f"1. {RIGHT}\n2. She went to school every day.", ("lines",)),
    ("She goes to school\nevery day.", ("lines",)),
    ("She\u00a0goes to school every\u200b day.", ("spaces",)),
    (f"<think>go or goes?</think>\n{RIGHT}", ("reasoning",)),
    (f"<corrected>{RIGHT}</corrected>", ("tags",)),
]


@pytest.mark.parametrize(("answer", "rules"), ANSWERS)
def test_an_answer_is_cleaned(answer, rules):
    assert clean(answer, SOURCE) == (type(clean("", ""))(RIGHT, rules))
    assert not is_refusal(answer, SOURCE)


def test_every_rule_is_tried_above():
    assert {rule for _, rules in ANSWERS for rule in rules} | {"unchanged", "marks"} == set(RULES)


@pytest.mark.parametrize(
    ("answer", "source", "text", "rule"),
    [
        ("The sentence is already correct.", "I am .", "I am .", "unchanged"),
        ("No corrections needed.", "I am .", "I am .", "unchanged"),
        ("“I don’t,” he says—now…", '" I do n\'t , " he say - now ...', '"I don\'t," he says-now...', "marks"),
        ('"I don\'t" - he says', "“ I don’t ” – he say", "“I don’t” – he says", "marks"),
    ],
)
def test_an_answer_without_a_correction_or_with_other_marks(answer, source, text, rule):
    cleaned = clean(answer, source)
    assert (cleaned.text, cleaned.rules) == (text, (rule,))


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("Sure , I will go .", "Sure, I will go."),
        ("Sure ! I will go .", "Sure! I will go."),
        ("Sure thing ! lets go .", "Sure thing! Let's go."),
        ("Here is the correct answer : go .", "Here is the correct answer: go."),
        ("answer 5", "Answer: 5"),
        ("Note I am here .", "Note: I am here."),
        ("Explanation : I go .", "Explanation: I went."),
        ("I like it . I hope this help you .", "I like it. I hope this helps you."),
        ('" I go " he say .', '"I go," he says.'),
        ('He say " yes " and " no "', '"Yes" and "no"'),
        ("- buy milks", "- buy milk"),
        ("* star", "* stars"),
        ("a ** b **", "a **b**"),
        ("2*3*4 is a_b_c", "2*3*4 is a_b_c."),
        ("I go\nYou goes", "I go\nYou go"),
        ("No changes needed .", "No changes are needed."),
        ("The sentence is correct", "The sentence is correct."),
        ("I am sorry but I can not help you .", "I am sorry, but I cannot help you."),
        ('it is { "text" : "a" }', 'It is {"text": "a"}.'),
        ("It 's ' so so '", "It's 'so so'"),
        ("", ""),
    ],
)
def test_what_may_be_a_correction_stays(source, answer):
    assert clean(answer, source).text == answer
    assert not is_refusal(answer, source)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't assist with that request.",
        "I’m unable to help with this content.",
        "As an AI language model, I do not correct such texts.",
        "I cannot provide a correction for this sentence.",
    ],
)
def test_refusals_stay_and_are_recognised(answer):
    assert is_refusal(answer, SOURCE)
    assert clean(answer, SOURCE).text == answer.replace("’", "'")


@pytest.mark.parametrize("unit", ["*", " \n", " ", "#", "\nOriginal: ", "```", "<think>", "(note ", "here is the "])
def test_an_answer_that_repeats_itself_takes_no_longer_than_any_other(unit):
    start = time.process_time()
    clean(unit * 20_000 + "x", "She have two dogs .")
    assert time.process_time() - start < 5  # 140 s for the asterisks when every start was tried
