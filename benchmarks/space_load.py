"""Simulated visitors of the demo Space: what share of their requests fails, and how long they wait.

Starts the Space on a free port of this machine and lets each visitor call its API over HTTP, one request at a time,
with pauses between them. Every request scores another sentence, so no cache answers it.

    python benchmarks/space_load.py --users 200 --seconds 60
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


def request(draw: random.Random) -> tuple[str, list]:
    """The API name and the values of one request: mostly scores, some attributions, some that must be refused."""
    number = draw.randrange(10**6)
    rest = f"{draw.choice(NOUNS)} number {number} {draw.choice(PLACES)} ."
    source, correction = f"She have see a {rest}", f"She has seen the {rest}"
    kind = draw.random()
    if kind < 0.75:
        return "score", [source, correction, correction, ["impara", "errant", "gleu"], True, []]
    if kind < 0.9:
        return "impacts", [source, correction, correction, "gleu", "Shapley value", True]
    return "score", ["word " * 5_000, correction, "", ["gleu"], True, []]


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


async def visitor(client: httpx.AsyncClient, seed: int, end: float, pause: float, found: list) -> None:
    """One visitor: asks, waits for the answer, reads it, asks again."""
    draw = random.Random(seed)
    await asyncio.sleep(draw.uniform(0, pause))
    while time.monotonic() < end:
        name, values = request(draw)
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


async def visit(address: str, users: int, seconds: float, pause: float) -> list:
    """All visitors at once."""
    limits = httpx.Limits(max_connections=2 * users + 10)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits, trust_env=False) as client:
        for name, values in [
            ("score", ["It work .", "It works .", "It works .", ["impara", "errant", "gleu"], True, []])
        ]:
            await ask(client, name, values)  # the models are there from here on
        found: list = []
        end = time.monotonic() + seconds
        await asyncio.gather(*(visitor(client, seed, end, pause, found) for seed in range(users)))
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=20, help="mean seconds between an answer and the next request")
    arguments = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start(port)
    try:
        began, spent = time.monotonic(), cpu_seconds(server)
        found = asyncio.run(visit(f"http://127.0.0.1:{port}", arguments.users, arguments.seconds, arguments.pause))
        took, spent = time.monotonic() - began, cpu_seconds(server) - spent
    finally:
        server.terminate()
        server.wait(30)
    print(
        json.dumps(
            {
                "users": arguments.users,
                "pause": arguments.pause,
                **report(found, took),
                "cpu per request": round(spent / len(found), 4),
            },
            indent=2,
        )
    )
    sys.exit(any(not row[1] for row in found))


if __name__ == "__main__":
    main()
