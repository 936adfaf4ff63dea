"""geceval inside other engines: each runs as it is published, with a real model; and torchmetrics on two processes."""

import copy
import json
import os
import pickle
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path

import filelock
import pytest

import geceval
from geceval.core.errors import InputError
from geceval.models.origins.named import origin_of
from geceval.workflows.harness.torch_metric import GecMetric

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "src/geceval/assets/example"
SOURCES, FIRST, SECOND, STRONG = (
    (EXAMPLE / name).read_text(encoding="utf-8").splitlines()
    for name in ("source.txt", "reference_0.txt", "reference_1.txt", "systems/strong.txt")
)
# The second half has one reference, so that rows of batches differ in shape.
REFERENCES = [list(pair) for pair in zip(FIRST[:22], SECOND[:22], strict=True)] + [[text] for text in FIRST[22:]]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
ENGINES = [line for line in PINS if line.partition("==")[0] in ("inspect-ai", "lm-eval", "trl", "verifiers")]


def in_batches(metric: GecMetric, rows: range) -> None:
    for row in rows[::10]:
        part = slice(row, min(row + 10, rows.stop))
        metric.update(SOURCES[part], STRONG[part], REFERENCES[part])


@pytest.mark.parametrize("name", ["errant", "gleu", "green"])
def test_torchmetrics_in_batches_is_the_corpus_score(name):
    expected = geceval.load(name).compute(sources=SOURCES, predictions=STRONG, references=REFERENCES)["score"]
    metric = GecMetric(name)
    assert metric.higher_is_better
    in_batches(metric, range(20))
    metric = pickle.loads(pickle.dumps(copy.deepcopy(metric)))
    in_batches(metric, range(20, 44))
    assert float(metric.compute()) == expected
    metric.reset()
    assert float(metric(SOURCES, STRONG, REFERENCES)) == expected  # as a step of a training calls it
    with pytest.raises(InputError, match="cannot be scored in parts"):
        GecMetric("m2", gold_m2="gold.m2")


PROCESS = """
import sys
import torch.distributed as dist
from workflows.test_harnesses import GecMetric, in_batches
rank, file = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
metric = GecMetric("gleu")
in_batches(metric, (range(30), range(30, 44))[rank])
print(repr(float(metric.compute())))
dist.destroy_process_group()
"""


def environment(**variables: str) -> dict[str, str]:
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests", ROOT / "training")))
    return {**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1", **variables}


@pytest.mark.slow
def test_torchmetrics_on_two_processes(tmp_path):
    """Three batches there, two here; of one and of two references."""
    commands = [[sys.executable, "-c", PROCESS, str(rank), str(tmp_path / "meet")] for rank in range(2)]
    processes = [subprocess.Popen(each, env=environment(), stdout=subprocess.PIPE, text=True) for each in commands]
    printed = {float(process.communicate(timeout=300)[0]) for process in processes}
    expected = geceval.load("gleu").compute(sources=SOURCES, predictions=STRONG, references=REFERENCES)["score"]
    assert printed == {expected}


@pytest.fixture(scope="module")
def engines() -> Path:
    """The folder of the commands of an environment with all engines, over that of this process, made once."""
    folder = Path(sys.prefix) / ".geceval-engines"
    with filelock.FileLock(f"{folder}.lock"):
        done = folder / "done.txt"
        if not done.is_file() or done.read_text() != repr(ENGINES):
            venv.create(folder, clear=True, with_pip=True)
            (site,) = (folder / "lib").glob("python*/site-packages")
            (site / "base.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("site-packages")))
            assert len(ENGINES) == 4
            command = [folder / "bin/python", "-m", "pip", "install", "-q", *ENGINES]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            done.write_text(repr(ENGINES))
    return folder / "bin"


@pytest.fixture(scope="module")
def model(smollm2) -> str:
    return str(origin_of(smollm2).folder)


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    done = subprocess.run(command, cwd=cwd, env=environment(**variables), capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.slow
def test_lm_evaluation_harness(engines, model, shared_data, tmp_path):
    """What it reports is the score of the answers that it logs, against the first sentences of the gold."""
    run(sys.executable, "-m", "geceval", "harness", "lm-eval", "--output", "tasks", cwd=tmp_path)
    arguments = ["--model", "hf", "--model_args", f"pretrained={model},dtype=bfloat16", "--device", "cpu"]
    arguments += ["--tasks", "gec_jfleg_test,gec_conll14", "--include_path", "tasks"]
    arguments += ["--limit", "6", "--batch_size", "6"]
    output = ["--gen_kwargs", "max_gen_toks=50", "--output_path", "out", "--log_samples"]
    run(engines / "python", "-m", "lm_eval", "run", *arguments, *output, cwd=tmp_path, GECEVAL_DATA=str(shared_data))
    (path,) = (tmp_path / "out").rglob("results_*.json")
    reported = json.loads(path.read_text())["results"]
    conll = (shared_data / "conll2014/official-2014.combined.m2").read_text(encoding="utf-8").split("\n\n")[:6]
    (tmp_path / "gold.m2").write_text("\n\n".join(conll) + "\n\n", encoding="utf-8")
    sources = [block.splitlines()[0].removeprefix("S ") for block in conll]
    options = {"text": "answers"}
    m2 = geceval.load("m2", gold_m2=str(tmp_path / "gold.m2"), **options)
    expected = m2.compute(sources=sources, predictions=logged(tmp_path, "conll14"))["score"]
    assert reported["gec_conll14"]["m2,none"] == expected
    columns = [(shared_data / f"jfleg/test.{end}").read_text(encoding="utf-8").splitlines()[:6]
               for end in ("src", "ref0", "ref1", "ref2", "ref3")]  # fmt: skip
    rows = {"sources": columns[0], "references": list(map(list, zip(*columns[1:], strict=True)))}
    expected = geceval.load("gleu", **options).compute(predictions=logged(tmp_path, "jfleg_test"), **rows)["score"]
    assert reported["gec_jfleg_test"]["gleu,none"] == expected > 0


def logged(folder: Path, name: str) -> list[str]:
    """The answers in the order of the documents."""
    (path,) = (folder / "out").rglob(f"samples_gec_{name}_*.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row["resps"][0][0] for row in sorted(rows, key=lambda row: row["doc"]["index"])]


INSPECT = """
import json, sys
import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.scorer import grouped
from inspect_ai.solver import generate, prompt_template
from geceval.workflows.harness.inspect_tasks import corpus, inspect_scorer
from workflows.test_harnesses import FIRST, SECOND, SOURCES
rows = list(zip(SOURCES, FIRST, SECOND))[:6]
task = inspect_ai.Task(
    [Sample(source, target=texts, metadata={"odd": row % 2}) for row, (source, *texts) in enumerate(rows)],
    solver=[prompt_template("Correct this sentence.\\n\\n{prompt}"), generate(max_tokens=30)],
    scorer=inspect_scorer("errant"),
    metrics=[corpus(), grouped(corpus(), "odd")],
)
model = {"model_path": sys.argv[1], "device": "cpu"}
(log,) = inspect_ai.eval(task, model="hf/local", model_args=model, display="none")
(scores,) = log.results.scores
answers = [[sample.scores["inspect_scorer"].answer, sample.scores["inspect_scorer"].value] for sample in log.samples]
print(json.dumps({"metrics": {name: value.value for name, value in scores.metrics.items()}, "answers": answers}))
"""


@pytest.mark.slow
def test_inspect(engines, model, tmp_path):
    printed = json.loads(run(engines / "python", "-c", INSPECT, model, cwd=tmp_path).splitlines()[-1])
    answers = [answer for answer, _ in printed["answers"]]
    errant = geceval.load("errant", text="answers")

    def scored(rows: slice) -> dict:
        references = list(zip(FIRST[:6][rows], SECOND[:6][rows], strict=True))
        return errant.compute(sources=SOURCES[:6][rows], predictions=answers[rows], references=[*map(list, references)])

    whole = scored(slice(None))
    assert [value for _, value in printed["answers"]] == whole["scores"]
    expected = {"corpus": whole, "all": whole, "0": scored(slice(0, 6, 2)), "1": scored(slice(1, 6, 2))}
    assert printed["metrics"] == {name: result["score"] for name, result in expected.items()}


VERIFIERS = """
import json, sys
import datasets
import verifiers as vf
from verifiers.legacy.types import ClientConfig
import geceval
from workflows.test_harnesses import FIRST, SECOND, SOURCES
prefix = "Correct this sentence.\\n\\n"
columns = zip(SOURCES, FIRST, SECOND)
rows = [{"question": prefix + s, "answer": "", "info": {"references": [a, b]}} for s, a, b in columns]
rubric = vf.Rubric(funcs=[geceval.reward("errant", prefix=prefix, text="answers")])
environment = vf.SingleTurnEnv(eval_dataset=datasets.Dataset.from_list(rows[:4]), rubric=rubric)
client = ClientConfig(api_key_var="USER", api_base_url=sys.argv[2])
counts = {"num_examples": 4, "rollouts_per_example": 1, "sampling_args": {"max_tokens": 30}}
out = environment.evaluate_sync(client, sys.argv[1], **counts)
print(json.dumps([[row["example_id"], row["completion"][-1]["content"], row["reward"]] for row in out["outputs"]]))
"""


@pytest.fixture
def served(engines, model, tmp_path):
    """The address at which `transformers serve` answers for the model."""
    port = 20_000 + os.getpid() % 10_000
    command = [engines / "python", "-m", "transformers.cli.transformers", "serve", model, "--device", "cpu"]
    with (tmp_path / "serve.log").open("w") as log:
        server = subprocess.Popen([*command, "--port", str(port)], env=environment(), stdout=log, stderr=log)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                break
            except OSError:
                time.sleep(1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
def test_verifiers(engines, model, served, tmp_path):
    """It swallows what a reward function raises, and gives 0."""
    rows = json.loads(run(engines / "python", "-c", VERIFIERS, model, served, cwd=tmp_path, USER="me").splitlines()[-1])
    assert len(rows) == 4
    for index, answer, value in rows:
        references = [[FIRST[index], SECOND[index]]]
        errant = geceval.load("errant", text="answers")
        assert errant.compute(sources=[SOURCES[index]], predictions=[answer], references=references)["score"] == value
    assert any(value > 0 for *_, value in rows)


@pytest.mark.slow
def test_trl_and_the_script_of_the_picture(engines, make_causal, tmp_path):
    """One step of each part, with a model that has learnt nothing."""
    block = "S Every day he go to school .\nA 3 4|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\n"
    (tmp_path / "some.m2").write_text(block * 64, encoding="utf-8")
    script = [engines / "python", ROOT / "training/reward_loop.py", "--train", "some.m2", "--dev", "some.m2"]
    steps = ["--start-steps", "1", "--steps", "1", "--held-out", "2", "--guard", "strict"]
    tiny = make_causal(kind="llama", max_position_embeddings=512, num_key_value_heads=2)
    run(*script, "--output", "loop", "--model", tiny, *steps, cwd=tmp_path)
    result = json.loads((tmp_path / "loop/strict.json").read_text())
    assert [row["step"] for row in result["curve"]] == [0, 1]
    assert "|guard:strict" in result["signature"]
    assert len(result["steps"]) == 1 and -12 <= result["steps"][0] <= 6  # the ends to which a reward is clipped
    assert (tmp_path / "loop/reward.png").stat().st_size > 5000
