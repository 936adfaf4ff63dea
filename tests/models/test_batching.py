"""Batches of bounded size, and several devices: the same numbers in less memory or less time."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from geceval import registry
from geceval.models.batching import SENTENCE, form_batches, share_out
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder

WORDS = ["the", "cat", "sat", "on", "a", "mat", "dogs", "run", "likes", "school"]


def sentences(count: int, longest: int, seed: int = 0) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(0, longest))) for _ in range(count)]


@pytest.mark.parametrize(("batch_size", "longest"), [(1, 20), (4, 128), (64, 128), (64, 30), (64, 5000)])
def test_no_batch_holds_more_than_its_budget(batch_size, longest):
    dice = random.Random(batch_size)
    lengths = [dice.randint(0, longest) for _ in range(500)]
    batches = form_batches(lengths, batch_size)
    assert sorted(place for batch in batches for place in batch) == list(range(500))
    for batch in batches:
        area = len(batch) * max(lengths[place] for place in batch)
        assert len(batch) <= batch_size
        assert area <= batch_size * SENTENCE or len(batch) == 1
        assert area - sum(lengths[place] for place in batch) <= batch_size * SENTENCE // 16  # padding
    flat = [lengths[place] for batch in batches for place in batch]
    assert flat == sorted(lengths, reverse=True)


@pytest.fixture(scope="module")
def folder(make_checkpoint):
    return str(make_checkpoint(8))


def test_two_devices_give_the_numbers_of_one(folder):
    options = {"model": folder, "se_model": folder, "threshold": -0.9}
    sources, predictions = sentences(70, 40), sentences(70, 40, seed=1)
    makers = [{**options, "device": device, "batch_size": 8} for device in ("cpu", "cpu,cpu")]
    one, two = (registry.make_scorer("impara", settings).score(sources, predictions) for settings in makers)
    assert two.scores == pytest.approx(one.scores, abs=1e-6)  # where a copy lies in memory can change the last bit
    assert len(set(one.scores)) > 60
    assert two.score == pytest.approx(one.score, abs=1e-6)
    assert two.signature == one.signature


def test_devices_work_at_the_same_time_and_answers_keep_their_order():
    meeting = threading.Barrier(3, timeout=30)

    def work(model, job):
        if job < 3:
            meeting.wait()  # passes only if three models work at once
        time.sleep(0.001 * (job % 3))
        return model, job

    answers = list(share_out(work, ["a", "b", "c"], iter(range(20))))
    assert [job for _, job in answers] == list(range(20))
    assert {model for model, _ in answers[:3]} == {"a", "b", "c"}


def test_a_network_that_is_loaded_does_not_wait_for_another(make_checkpoint, monkeypatch):
    loaded, other = (resolve(str(make_checkpoint(seed))) for seed in (8, 9))
    reader = Encoder.load(loaded)
    begun, end = threading.Event(), threading.Event()
    make = Encoder._make

    def slow(*given):
        begun.set()
        assert end.wait(30)
        return make(*given)

    monkeypatch.setattr(Encoder, "_make", slow)
    with ThreadPoolExecutor(3) as pool:
        loads = [pool.submit(Encoder.load, other) for _ in range(2)]
        assert begun.wait(30)
        try:
            assert pool.submit(Encoder.load, loaded).result(timeout=10) is reader
        finally:
            end.set()
        assert loads[0].result() is loads[1].result() is not reader  # loaded once for both


def test_an_error_on_a_device_is_an_error_here_and_ends_the_rest():
    done = []

    def work(model, job):
        if job == 2:
            raise ValueError("out of memory")
        time.sleep(0.01)
        done.append(job)

    with pytest.raises(ValueError, match="out of memory"):
        list(share_out(work, ["a", "b"], range(1000)))
    assert len(done) < 100
