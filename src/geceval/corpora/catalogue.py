"""The data sets: where they are published, under which terms, and how to cite them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataSet:
    """A published data set."""

    title: str
    description: str
    url: str
    files: str
    terms: str
    license: str
    citation: str


_NO_TERMS = "The authors state none. Ask them before you pass the texts on, and cite the paper."
_RESEARCH = "Free for research; passing the texts on needs the consent of the owners."
_SHARE_ALIKE = "Creative Commons BY-NC-SA 4.0: not for commercial use; whatever is derived carries the same licence."


def _article(key: str, title: str, author: str, venue: str, year: int) -> str:
    field = "journal" if venue.startswith("Transactions") else "booktitle"
    kind = "article" if field == "journal" else "inproceedings"
    return (
        f"@{kind}{{{key},\n  title = {{{title}}},\n  author = {{{author}}},\n  {field} = {{{venue}}},\n"
        f"  year = {{{year}}}\n}}"
    )


DATA_SETS = {
    "seeda": DataSet(
        "SEEDA",
        "Human judgments of 15 systems and 391 sentences of the CoNLL-2014 test set, by sentence and by edit.",
        "https://github.com/tmu-nlp/SEEDA",
        "data/judgments_sent.xml, data/judgments_edit.xml, outputs/all/*.txt, outputs/subset/*.txt, scores/human/*.txt",
        _NO_TERMS,
        "unknown",
        _article(
            "kobayashi-etal-2024-revisiting",
            "Revisiting Meta-evaluation for Grammatical Error Correction",
            "Kobayashi, Masamune and Mita, Masato and Komachi, Mamoru",
            "Transactions of the Association for Computational Linguistics",
            2024,
        ),
    ),
    "gjg15": DataSet(
        "GJG15",
        "Human judgments of the 12 submissions to the CoNLL-2014 shared task, and of the input.",
        "https://github.com/grammatical/evaluation",
        "data/judgments.xml, data/original/official_submissions/*",
        _NO_TERMS,
        "unknown",
        _article(
            "grundkiewicz-etal-2015-human",
            "Human Evaluation of Grammatical Error Correction Systems",
            "Grundkiewicz, Roman and Junczys-Dowmunt, Marcin and Gillian, Edward",
            "Proceedings of EMNLP",
            2015,
        ),
    ),
    "conll13": DataSet(
        "CoNLL-2013",
        "Test set of the CoNLL-2013 shared task: 50 essays of NUS students, one annotator.",
        "https://www.comp.nus.edu.sg/~nlp/conll13st.html",
        "official-preprocessed.m2 (revised); optionally official-preprocessed.original.m2",
        _RESEARCH,
        "other",
        _article(
            "ng-etal-2013-conll",
            "The CoNLL-2013 Shared Task on Grammatical Error Correction",
            "Ng, Hwee Tou and Wu, Siew Mei and Wu, Yuanbin and Hadiwinoto, Christian and Tetreault, Joel",
            "Proceedings of CoNLL: Shared Task",
            2013,
        ),
    ),
    "conll14": DataSet(
        "CoNLL-2014",
        "Test set of the CoNLL-2014 shared task: 50 essays of NUS students, two annotators; alternatives beside them.",
        "https://www.comp.nus.edu.sg/~nlp/conll14st.html",
        "official-2014.combined.m2; optionally official-2014.combined-withalt.m2",
        _RESEARCH,
        "other",
        _article(
            "ng-etal-2014-conll",
            "The CoNLL-2014 Shared Task on Grammatical Error Correction",
            "Ng, Hwee Tou and Wu, Siew Mei and Briscoe, Ted and Hadiwinoto, Christian and Susanto, Raymond Hendy and "
            "Bryant, Christopher",
            "Proceedings of CoNLL: Shared Task",
            2014,
        ),
    ),
    "jfleg": DataSet(
        "JFLEG",
        "Sentences of TOEFL essays with four fluency corrections each.",
        "https://github.com/keisks/jfleg",
        "dev.src, dev.ref0..3, test.src, test.ref0..3 (also in dev/ and test/); optionally *.spellchecked.src",
        _SHARE_ALIKE,
        "cc-by-nc-sa-4.0",
        _article(
            "napoles-etal-2017-jfleg",
            "JFLEG: A Fluency Corpus and Benchmark for Grammatical Error Correction",
            "Napoles, Courtney and Sakaguchi, Keisuke and Tetreault, Joel",
            "Proceedings of EACL",
            2017,
        ),
    ),
    "cweb": DataSet(
        "CWEB",
        "Sentences of web pages, sponsored (S) and generic (G), which hold few errors; two annotators, ERRANT edits.",
        "https://github.com/SimonHFL/CWEB",
        "CWEB-G.dev.m2, CWEB-G.test.m2, CWEB-S.dev.m2, CWEB-S.test.m2",
        _SHARE_ALIKE,
        "cc-by-nc-sa-4.0",
        _article(
            "flachs-etal-2020-grammatical",
            "Grammatical Error Correction in Low Error Density Domains: A New Benchmark and Analyses",
            "Flachs, Simon and Lacroix, Oph{\\'e}lie and Yannakoudakis, Helen and Rei, Marek and S{\\o}gaard, Anders",
            "Proceedings of EMNLP",
            2020,
        ),
    ),
    "fce": DataSet(
        "FCE",
        "Essays of candidates for Cambridge's First Certificate in English, one annotator.",
        "https://www.cl.cam.ac.uk/research/nl/bea2019st/",
        "fce.train.gold.bea19.m2, fce.dev.gold.bea19.m2, fce.test.gold.bea19.m2; or fce-train.json, fce-dev.json, "
        "fce-test.json, which are split into sentences and tokens here",
        "Non-commercial research and education only (the licence of the CLC FCE dataset).",
        "other",
        _article(
            "yannakoudakis-etal-2011-new",
            "A New Dataset and Method for Automatically Grading ESOL Texts",
            "Yannakoudakis, Helen and Briscoe, Ted and Medlock, Ben",
            "Proceedings of ACL-HLT",
            2011,
        ),
    ),
    "wi_locness": DataSet(
        "W&I+LOCNESS",
        "Texts of learners at levels A, B and C and of native students (N), corrected for the BEA-2019 shared task.",
        "https://www.cl.cam.ac.uk/research/nl/bea2019st/",
        "A.train.gold.bea19.m2, B.train.gold.bea19.m2, C.train.gold.bea19.m2, ABCN.dev.gold.bea19.m2",
        "Non-commercial research and education only (the licence that comes with the corpus).",
        "other",
        _article(
            "bryant-etal-2019-bea",
            "The BEA-2019 Shared Task on Grammatical Error Correction",
            "Bryant, Christopher and Felice, Mariano and Andersen, {\\O}istein E. and Briscoe, Ted",
            "Proceedings of BEA",
            2019,
        ),
    ),
    "tmu_gfm": DataSet(
        "TMU-GFM",
        "System outputs that five people rated for grammaticality, fluency and meaning; the training data of SOME.",
        "https://github.com/tmu-nlp/TMU-GFM-Dataset",
        "tmu-gfm-dataset.csv",
        _NO_TERMS,
        "unknown",
        _article(
            "yoshimura-etal-2020-reference",
            "SOME: Reference-less Sub-Metrics Optimized for Manual Evaluations of Grammatical Error Correction",
            "Yoshimura, Ryoma and Kaneko, Masahiro and Kajiwara, Tomoyuki and Komachi, Mamoru",
            "Proceedings of COLING",
            2020,
        ),
    ),
}
