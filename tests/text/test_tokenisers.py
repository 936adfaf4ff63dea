"""Tokenisers by name, and the way back to prose."""

import time

import pytest

from geceval.text.tokenisers import detokenise, tokenise


@pytest.mark.parametrize(
    ("tokens", "prose"),
    [
        ("I do n't know , he said ( twice ) ; it 's DO N'T !", "I don't know, he said (twice); it's DON'T!"),
        (" a \t b\n  c ", "a b c"),
        ("We ’re n't 's , . ) ( [ x ] { y } 50 % : no ?", "We’ren't's,.) ([x] {y} 50%: no?"),
        ("'sad n'those 'S ,", "'sad n'those'S,"),
        ("non-breaking\u00a0 space ,", "non-breaking space,"),
        ("", ""),
    ],
)
def test_tokens_become_prose(tokens, prose):
    assert detokenise(tokens) == prose


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        # The Penn Treebank's conventions, as NLTK's word_tokenize has them but for the form of quotation marks.
        ("ptb", "I don't know, he's 10% off.", "I do n't know , he 's 10 % off ."),
        ("ptb", 'She cannot "see" (him)... wait!', 'She can not " see " ( him ) ... wait !'),
        ("ptb", "Mr. Smith paid $10,000 at 10:30. The", "Mr. Smith paid $ 10,000 at 10:30 . The"),
        ("ptb", "The well-known dogs' tails --", "The well-known dogs ' tails --"),
        ("ptb", "'Tis the U.S. army's and/or e.g. that.", "'Tis the U.S. army 's and/or e.g. that ."),
        ("ptb", "'I'm gonna go'", "' I 'm gon na go '"),
        # sacrebleu 2.5: `sacrebleu.tokenizers.tokenizer_13a`
        ("13a", "I don't, 10,000.5 (x) end-of 3-4.", "I don't , 10,000.5 ( x ) end-of 3 - 4 ."),
        ("char", "猫 is", "猫 i s"),
        ("whitespace", " a \t b\n", "a b"),
        # syntok 1.4.4: `[token.value for token in syntok.tokenizer.Tokenizer().tokenize(text)]`
        ("syntok", "ich's im Kaffee-Haus\n(z.B. um 10) sah...\n", "ich 's im Kaffee Haus ( z . B . um 10 ) sah ..."),
        ("syntok", "Řekl: „Nevím, proč jel do Prahy.“", "Řekl : „ Nevím , proč jel do Prahy . “"),
        ("syntok", "I don't know snake_case, do you?", "I do not know snake case , do you ?"),
        ("syntok", "a\u200b", "a"),
    ],
)
def test_tokenisers(name, text, tokens):
    assert tokenise(text, name) == tokens


def test_spacy_is_its_english_rules():
    spacy = pytest.importorskip("spacy")
    text = "Im sure it's a well-known 10km run (e.g. so-so)."
    assert tokenise(text, "spacy-en").split() == [token.text for token in spacy.blank("en")(text)]


def test_a_long_word_is_tokenised_in_linear_time():
    start = time.process_time()
    assert tokenise("a" * 50_000 + " b. c", "ptb") == "a" * 50_000 + " b. c"
    assert time.process_time() - start < 5  # 50 s when a word was tried from each of its letters
