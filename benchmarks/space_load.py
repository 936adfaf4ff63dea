"""Simulated visitors of the demo Space: what share of their requests fails, and how long they wait.

Starts the Space on a free port of this machine, or takes a page that runs elsewhere, and lets each visitor call its API
over HTTP, one request at a time, with pauses between them. Every request scores another sentence, so no cache answers
it; `--repeat 0.5` asks half of the time what somebody asked before, as visitors do who try the examples. `--large 0.05`
adds visitors who ask for the large model: the others should not notice.

    python benchmarks/space_load.py --users 200 --seconds 60
    python benchmarks/space_load.py --url https://ORG-NAME.hf.space --users 20
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import psutil

SPACE = Path(__file__).resolve().parents[1] / "spaces" / "demo"
NOUNS = ["cat", "teacher", "letter", "river", "friend", "garden", "doctor", "bicycle", "window", "story"]
PLACES = ["in the park", "at school", "near the river", "in Lisbon", "on the train", "at home", "behind the house"]


def request(draw: random.Random, repeat: float, large: float) -> tuple[str, list]:
    """The API name and the values of one request: mostly scores, some attributions, some that must be refused.

    Args:
        draw: The random numbers of the visitor.
        repeat: Share of the requests that are one of a few.
        large: Share of the requests for the large model.
    """
    if draw.random() < repeat:
        draw = random.Random(draw.randrange(20))
    number = draw.randrange(10**6)
    rest = f"{draw.choice(NOUNS)} number {number} {draw.choice(PLACES)} ."
    source, correction = f"She have see a {rest}", f"She has seen the {rest}"
    if draw.random() < large:
        return "score_large", [source, correction, correction, ["fluency"], True]
    kind = draw.random()
    if kind < 0.75:
        return "score", [source, correction, correction, ["impara", "errant", "gleu"], True]
    if kind < 0.9:
        return "impacts", [source, correction, correction, "gleu", "Shapley value", True]
    return "score", ["word " * 5_000, correction, "", ["gleu"], True]


async def ask(client: httpx.AsyncClient, name: str, values: list) -> str:
    """What became of one request: `"complete"`, `"refused"` (as it must be), or what went wrong."""
    answer = await client.post(f"/gradio_api/call/{name}", json={"data": values})
    if answer.status_code != 200:
        return f"HTTP {answer.status_code}"
    kind = ""
    async with client.stream("GET", f"/gradio_api/call/{name}/{answer.json()['event_id']}") as stream:
        async for line in stream.aiter_lines():
            if line.startswith("event: "):
                kind = line[7:].strip()
            elif line.startswith("data: ") and kind == "complete":
                return "complete"
            elif line.startswith("data: ") and kind == "error":
                return "refused" if "400 words at most" in line else f"error {line[:160]}"
    return "the stream ended"


async def visitor(client: httpx.AsyncClient, seed: int, end: float, arguments: argparse.Namespace, found: list) -> None:
    """One visitor: asks, waits for the answer, reads it, asks again."""
    draw, pause = random.Random(seed), arguments.pause
    await asyncio.sleep(draw.uniform(0, pause))
    while time.monotonic() < end:
        name, values = request(draw, arguments.repeat, arguments.large)
        start = time.monotonic()
        try:
            outcome = await ask(client, name, values)
        except httpx.HTTPError as error:
            outcome = f"{type(error).__name__}"
        wanted = "refused" if values[0].startswith("word word") else "complete"
        found.append(
            (name if wanted == "complete" else "refusal", outcome == wanted, outcome, time.monotonic() - start)
        )
        await asyncio.sleep(draw.uniform(0.5, 1.5) * pause)


async def visit(address: str, arguments: argparse.Namespace) -> list:
    """All visitors at once."""
    limits = httpx.Limits(max_connections=2 * arguments.users + 10)
    local = address.startswith("http://127.0.0.1")
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits, trust_env=not local) as client:
        first = ["It work .", "It works .", "It works .", ["impara", "errant", "gleu"], True]
        try:
            outcome = await ask(client, "score", first)  # the models are there from here on
        except httpx.HTTPError as error:
            outcome = f"{type(error).__name__}: {error}"
        if outcome != "complete":
            raise SystemExit(f"{address} does not answer as the Space does: {outcome}")
        if arguments.large:
            await ask(client, "score_large", [*first[:3], ["fluency"], True])
        found: list = []
        end = time.monotonic() + arguments.seconds
        await asyncio.gather(*(visitor(client, seed, end, arguments, found) for seed in range(arguments.users)))
        return found


def start(port: int) -> subprocess.Popen:
    """The Space in a process of its own, once it answers."""
    settings = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(
        [sys.executable, "app.py"], cwd=SPACE, env={**os.environ, **settings}, stdout=quiet, stderr=quiet
    )
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and server.poll() is None:
        try:
            httpx.get(f"http://127.0.0.1:{port}/", timeout=5, trust_env=False)
            return server
        except httpx.HTTPError:
            time.sleep(0.5)
    server.kill()
    raise SystemExit("the Space did not start")


def cpu_seconds(server: subprocess.Popen) -> float:
    """What the server has used of all cores together; other than the latency, it is the same on a busy machine."""
    times = psutil.Process(server.pid).cpu_times()
    return times.user + times.system


def report(found: list, seconds: float) -> dict:
    """Counts and percentiles of the latency in seconds, by kind of request."""
    rows = {}
    for kind in sorted({row[0] for row in found} | {"all"}):
        own = [row for row in found if kind in (row[0], "all")]
        percentiles = np.percentile([row[3] for row in own], [50, 90, 95, 99, 100]).round(3).tolist()
        rows[kind] = {
            "requests": len(own),
            "errors": sum(not row[1] for row in own),
            **dict(zip(["p50", "p90", "p95", "p99", "max"], percentiles, strict=True)),
        }
    wrong = Counter(row[2] for row in found if not row[1])
    return {
        "seconds": seconds,
        "rate": round(len(found) / seconds, 2),
        "kinds": rows,
        "wrong": dict(wrong.most_common(5)),
    }


def visit_our_own(arguments: argparse.Namespace) -> tuple[list, float, float]:
    """What became of the requests to a Space that is started for them, the seconds it took, and those of its cores."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start(port)
    try:
        began, spent = time.monotonic(), cpu_seconds(server)
        found = asyncio.run(visit(f"http://127.0.0.1:{port}", arguments))
        return found, time.monotonic() - began, cpu_seconds(server) - spent
    finally:
        server.terminate()
        server.wait(30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="a page that runs already; by default one is started here")
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=20, help="mean seconds between an answer and the next request")
    parser.add_argument("--repeat", type=float, default=0, help="share of the requests that were made before")
    parser.add_argument("--large", type=float, default=0, help="share of the requests for the large model")
    arguments = parser.parse_args()
    if arguments.url:
        began = time.monotonic()
        found = asyncio.run(visit(arguments.url.rstrip("/"), arguments))
        took, costs = time.monotonic() - began, {}
    else:
        found, took, spent = visit_our_own(arguments)
        costs = {"cpu per request": round(spent / max(1, len(found)), 4)}
    if not found:
        raise SystemExit("no visitor asked anything: give them more seconds")
    print(json.dumps({**vars(arguments), **report(found, took), **costs}, indent=2))
    sys.exit(any(not row[1] for row in found))


if __name__ == "__main__":
    main()
