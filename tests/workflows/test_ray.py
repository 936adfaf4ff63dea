"""geceval.ray on a local cluster of two workers: the numbers of one process, also when a worker is killed."""

import os
import re
import signal
import threading
import time
from pathlib import Path

import psutil
import pyarrow
import pyarrow.parquet as parquet
import pytest
from workflows.test_file_scores import PAGE, corpus

from geceval import registry

ray = pytest.importorskip("ray", reason="Ray is not installed (pip install 'geceval[ray]')")

import geceval.ray  # noqa: E402

pytestmark = pytest.mark.slow  # a cluster takes half a minute to start

SLOW = {"iterations": 40_000}  # so many that a kill meets a part


@pytest.fixture(scope="module")
def cluster():
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    arguments = {"object_store_memory": 80 * 2**20, "include_dashboard": False, "log_to_driver": False}
    for attempt in range(3):  # a cluster has 30 seconds to start, too few on a busy machine
        try:
            ray.init(num_cpus=2, configure_logging=False, **arguments)
            break
        except Exception:
            ray.shutdown()
            if attempt == 2:
                raise
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture
def files(tmp_path):
    whole = corpus(300)
    for part in range(20):
        rows = slice(15 * part, 15 * (part + 1))
        parquet.write_table(
            pyarrow.table({name: values[rows] for name, values in whole.items()}), tmp_path / f"{part:02d}.parquet"
        )
    return tmp_path, whole


def scored(folder):
    """Ids and scores in the order of the files."""
    tables = [parquet.read_table(path, columns=["id", "score"]) for path in sorted(folder.glob("part-*.parquet"))]
    whole = pyarrow.concat_tables(tables)
    return whole["id"].to_pylist(), whole["score"].to_pylist()


def kill_one(output, killed):
    """Kill a worker of the pool as soon as a first file is there and a second one is being written or computed."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(output.glob("part-*.parquet")):
        time.sleep(0.02)
    for process in psutil.process_iter(["pid", "cmdline"]):
        name = " ".join(process.info["cmdline"] or [])
        if "MapWorker" in name and os.getpid() in [parent.pid for parent in process.parents()]:
            os.kill(process.pid, signal.SIGKILL)
            killed.append(process.pid)
            return


def test_a_killed_worker_loses_and_doubles_no_row(cluster, files, tmp_path):
    folder, whole = files
    output = tmp_path / "scores"
    killed = []
    killer = threading.Thread(target=kill_one, args=(output, killed))
    killer.start()
    run = geceval.ray.score(folder, "gleu", output, keep=["id"], num_cpus=0.5, **SLOW)
    killer.join()
    assert len(killed) == 1
    result = registry.make_scorer("gleu", SLOW).score(whole["sources"], whole["predictions"], whole["references"])
    assert scored(output) == (whole["id"], result.scores)
    assert (run.rows, len(run.parts)) == (300, 20)
    assert run.corpus_score() == pytest.approx(result.score, abs=1e-12)
    signature = result.signature.replace("refs:1-2", "refs:N")
    assert {text.replace("refs:1-2", "refs:N") for text in run.signatures} == {signature}
    assert not list(output.glob(".*"))

    names = ("part-000003.parquet", "part-000019.parquet")
    for name in names:
        (output / name).unlink()
    times = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    geceval.ray.score(folder, "gleu", output, workers=1, keep=["id"], num_cpus=0.5, **SLOW)
    assert scored(output) == (whole["id"], result.scores)
    assert {path.name for path in output.iterdir() if times.get(path.name) != path.stat().st_mtime_ns} == set(names)


def test_a_data_set_of_ray_gets_a_column(cluster):
    whole = corpus(40)
    rows = [dict(zip(whole, values, strict=True)) for values in zip(*whole.values(), strict=True)]
    data = ray.data.from_items(rows)
    found = data.map_batches(geceval.BatchScorer, fn_constructor_args=("gleu",), concurrency=1).take_all()
    result = registry.make_scorer("gleu").score(whole["sources"], whole["predictions"], whole["references"])
    found.sort(key=lambda row: row["id"])
    assert [row["gleu"] for row in found] == result.scores


def test_the_page_on_scale(cluster, tmp_path, monkeypatch, capsys):
    """Its code for Ray runs, here with a metric that loads no model."""
    code = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    Path("corpus").mkdir()
    whole = corpus(20)
    parquet.write_table(pyarrow.table(whole), "corpus/0.parquet")
    exec(code.replace('"impara"', '"gleu"'), {})
    result = registry.make_scorer("gleu").score(whole["sources"], whole["predictions"], whole["references"])
    assert capsys.readouterr().out == f"20 {[result.signature]} {result.score}\n"
    assert scored(Path("scores")) == (whole["id"], result.scores)


def test_a_bad_row_is_told_plainly_and_the_rest_is_kept(cluster, files, tmp_path):
    folder, whole = files
    whole["predictions"][299] = None
    parquet.write_table(pyarrow.table({name: values[285:] for name, values in whole.items()}), folder / "19.parquet")
    message = r"19\.parquet, in the 15 rows from 0: gleu: predictions\[14\] must be a string, got None"
    with pytest.raises(ValueError, match=message):
        geceval.ray.score(folder, "gleu", tmp_path / "bad", workers=1, num_cpus=0.5)
    assert (tmp_path / "bad" / "part-000000.parquet").is_file()


def test_mistakes_are_told_before_any_worker_starts(files):
    folder, _ = files
    with pytest.raises(ValueError, match="workers must be at least 1"):
        geceval.ray.score(folder, "gleu", folder / "scores", workers=0)
    with pytest.raises(TypeError, match="unknown option 'worker'"):
        geceval.ray.score(folder, "gleu", folder / "scores", worker=2)
