"""The page as a whole: what it offers to programs, what it sends, and what it keeps to itself."""

import json
import re
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_layers import imports

import lanes
from geceval.hub.cards import lint_space_card

BOUNDARY = "geceval-test"


def ask(address, name, values):
    """What the queue answers to one request: `("complete", values)` or `("error", message)`."""
    body = json.dumps({"data": values}).encode()
    request = urllib.request.Request(f"{address}/gradio_api/call/{name}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        event = json.load(answer)["event_id"]
    with urllib.request.urlopen(f"{address}/gradio_api/call/{name}/{event}", timeout=120) as stream:
        kind = None
        for line in stream:
            if line.startswith(b"event: "):
                kind = line[7:].strip().decode()
            elif line.startswith(b"data: ") and kind in ("complete", "error"):
                return kind, json.loads(line[6:])
    raise AssertionError(f"{name}: the stream ended")


def upload(address, name, content):
    """Path of a file on the server."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
    body = head + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    request = urllib.request.Request(f"{address}/gradio_api/upload", body, kind)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return {"path": json.load(answer)[0], "meta": {"_type": "gradio.FileData"}, "orig_name": name}


def test_every_event_has_a_name(app):
    public = {f.api_name for f in app.demo.fns.values() if f.api_visibility == "public"}
    assert public == {"score", "score_large", "impacts", "chunks", "detect", "compare", "report"}
    others = [f for f in app.demo.fns.values() if f.api_visibility == "undocumented"]
    assert all(re.fullmatch(r"[a-z]+_[a-z_]+", f.api_name) for f in others)


def test_slow_work_does_not_hold_up_quick_work(app):
    queues = {f.api_name: (f.concurrency_id, f.concurrency_limit) for f in app.demo.fns.values()}
    quick = ("score", "score_page", "impacts", "impacts_page", "chunks", "detect")
    assert {queues[name] for name in quick} == {("quick", lanes.QUICK_WAITING)}
    assert {queues[name] for name in ("score_large", "score_ticket")} == {("large", lanes.LARGE_WAITING)}
    assert queues["compare"] == queues["compare_page"] == ("long", 1)
    assert lanes.lane("fluency") is not lanes.lane("impara")
    assert app.demo._queue.max_size == app.WAITING_ROOM


def test_a_program_gets_scores(address):
    asked = ["She have a cat .", "She has a cat .", "She has a cat .", ["gleu"], True, "en"]
    kind, (view, values) = ask(address, "score", asked)
    assert kind == "complete" and view.startswith('<div class="gv">')
    assert values["scores"]["gleu"]["score"] == 1.0


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("score", ["a\ud800", "b", "", ["gleu"], True, "en"], "U+D800"),
        ("score", ["a", "b", "", ["<b>"], True, "en"], "There is no metric called &lt;b&gt; here."),
        ("score", ["a", "b", "", ["gleu"], True, "xx"], "The language is one of: en, ru, zh, any."),
        ("score", ["a", "b"], "needed: 6, got: 2"),
        ("score", ["a", "b", "", ["fluency"], True, "en"], "fluency reads the large model: ask /score_large"),
        ("compare", [None, [], None, ["gleu"], "first system", "own"], "Upload or paste the source first"),
    ],
)
def test_a_program_is_told_what_is_wrong(address, name, values, message):
    kind, told = ask(address, name, values)
    assert kind == "error"
    assert message in str(told) and "Traceback" not in str(told)


def test_files_of_programs_are_compared_and_bad_ones_refused(address):
    files = {name: upload(address, f"{name}.txt", text) for name, text in [
        ("source", b"a b c d\n"), ("mine", b"a b c e\n"), ("big", b"a b c d\n" * 1_250_000), ("zip", b"PK\x03\x04\x00")
    ]}  # fmt: skip
    asked = [files["source"], [files["mine"]], [files["mine"]], ["gleu"], "first system", "own"]
    kind, (_, rows) = ask(address, "compare", asked)
    assert kind == "complete" and [row["score"] for row in rows] == [0.0, 1.0]
    for name, message in [("big", "9.5 MB; this page takes 2 MB"), ("zip", "no plain text but a zip archive")]:
        kind, told = ask(address, "compare", [files["source"], [files[name]], None, ["gleu"], "first system", "own"])
        assert kind == "error" and message in str(told)


def test_an_upload_without_bounds_is_cut_off(address):
    with pytest.raises(urllib.error.HTTPError) as refusal:
        upload(address, "huge.txt", b"a" * 21_000_000)
    assert refusal.value.code == 413


def test_a_file_of_the_server_is_no_upload(address, space):
    path = str(space / "app.py")
    for stolen in ({"path": path, "meta": {"_type": "gradio.FileData"}}, {"path": path}):
        kind, told = ask(address, "compare", [stolen, [stolen], None, ["gleu"], "first system", "own"])
        assert kind == "error" and "import" not in str(told)


def test_a_program_may_leave_out_what_has_a_default(app):
    """What `gradio_client` reads: every input but the sentence, or the texts, is optional."""
    info = app.demo.get_api_info()["named_endpoints"]
    parameters = {
        name: [each for each in one["parameters"] if not each["parameter_has_default"]] for name, one in info.items()
    }
    needed = {name: [each["parameter_name"] for each in row] for name, row in parameters.items()}
    expected = dict.fromkeys(("/score", "/score_large", "/impacts"), ["source", "correction"])
    expected |= {"/chunks": ["source", "correction", "references"], "/detect": ["text"]}
    assert needed == expected | {"/compare": ["source", "systems"], "/report": []}


def test_several_at_once_are_all_served(address):
    def kind(number):
        text = f"Sentence {number} have an error ."
        return ask(address, "score", [text, text.replace("have", "has"), "", ["impara"], True, "en"])[0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(kind, range(8))) == ["complete"] * 8


def test_the_page_asks_nobody_else(address):
    with urllib.request.urlopen(address, timeout=30) as answer:
        text, headers = answer.read().decode(), answer.headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "fonts.googleapis.com" not in text
    assert "Him and me was late" in text and "0.9524" in text  # an example, scored before anybody asks


def test_card_requirements_and_size(space):
    assert lint_space_card(space / "README.md") == []
    requirements = (space / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert requirements[1:] == [".[neural,edits,lm,meteor,uot]"]
    (installed,) = re.findall(r"pip install -e \"\.\[(.*)\]\"", (space / "README.md").read_text(encoding="utf-8"))
    assert {"space", "lm", "meteor", "uot"} == set(installed.split(","))  # space has the other two
    assert not [path.name for path in space.glob("*.py") if path.read_text(encoding="utf-8").count("\n") > 300]


def test_the_space_goes_through_the_public_face(space):
    """Metrics by name, never by import: see the rules of the rooms in tests/test_layers.py."""
    rooms = ("core", "text", "edits", "registry", "corpora", "workflows", "cli.pages", "cli.text_files")
    allowed = {f"geceval.{room}" for room in rooms}
    for path in space.glob("*.py"):
        for name in (name for name in imports(path) if name.startswith("geceval.")):
            room = ".".join(name.split(".")[: 3 if name.startswith("geceval.cli.") else 2])
            assert room in allowed, f"{path}: {name}"
