"""Who may import whom, and what an import costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "geceval"

# A room may import itself and these; "edits.edit" is one file of a room. DESIGN: each line stands on those above it.
FLOOR = {"version", "core"}
ALLOWED = {
    "version": set(),
    "core": {"version"},
    "text": FLOOR,
    "edits": FLOOR | {"text"},
    "models": FLOOR | {"text", "edits.edit"},
    "meta": FLOOR,
    "scorers": FLOOR | {"text", "edits", "models"},
}
ALLOWED["registry"] = ALLOWED["scorers"] | {"scorers"}
ALLOWED["corpora"] = FLOOR | {"text", "edits", "meta"}
ALLOWED["learning"] = ALLOWED["registry"] | {"registry", "meta", "corpora"}
ALLOWED["workflows"] = ALLOWED["learning"]
ALLOWED["ray"] = FLOOR | {"workflows"}
ALLOWED["hub"] = ALLOWED["workflows"] | {"learning", "workflows"}
ALLOWED["doctor"] = ALLOWED["hub"] | {"hub"}
ALLOWED["cli"] = ALLOWED["doctor"] | {"doctor"}
ALLOWED["__main__"] = {"cli"}
LINES, FILES = 500, 25
FULL_ROOMS = {"scorers", "cli"}  # one file a metric, one file a verb
HEAVY = {"torch", "openai", "spacy", "errant", "transformers", "peft", "matplotlib", "gradio", "ray", "pandas"}
HEAVY |= {"datasets", "evaluate"}


def imports(path: Path) -> set[str]:
    """Dotted names of all modules that a file imports, also within functions and for type checkers."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def files_of(room: str) -> list[Path]:
    single = SOURCE / f"{room}.py"
    return [single] if single.is_file() else sorted((SOURCE / room).rglob("*.py"))


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_rooms_import_downwards_only(room):
    for path in files_of(room):
        for name in imports(path):
            parts = name.split(".")
            if parts[0] != "geceval" or len(parts) == 1 or parts[1] == room:
                continue
            if name == "geceval.edits" and room == "models":
                continue  # the package of the file `geceval.edits.edit`, which the same statement names
            permitted = {parts[1], ".".join(parts[1:3])} & ALLOWED[room]
            assert permitted, f"{path.relative_to(ROOT)} imports {name}"


def test_every_room_has_a_rule():
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert rooms - {"__init__", "modules", "assets"} == set(ALLOWED)


def modules() -> dict[str, Path]:
    """Dotted name to file of everything in the library."""
    paths = {path: path.relative_to(SOURCE.parent).with_suffix("").parts for path in SOURCE.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}


def test_no_circles():
    """Not even lazily, and not for types alone."""
    files = modules()
    graph = {name: (imports(path) & files.keys()) - {name, "geceval"} for name, path in files.items()}
    while True:
        leaves = {name for name, needed in graph.items() if not needed & graph.keys()}
        if not leaves:
            break
        graph = {name: needed for name, needed in graph.items() if name not in leaves}
    assert not graph, f"these import each other, or what does: {sorted(graph)}"


def test_rooms_and_files_stay_small():
    long = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert {name: lines for name, lines in long.items() if lines > LINES} == {}
    for folder in {path.parent for path in SOURCE.rglob("*.py")} - {SOURCE / room for room in FULL_ROOMS}:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= FILES, folder


def test_the_library_imports_no_top_folder():
    for path in SOURCE.rglob("*.py"):
        first = {name.split(".")[0] for name in imports(path)}
        assert not first & {"training", "recipes", "spaces", "metrics", "tests", "benchmarks"}, path


def test_modules_and_training_keep_to_the_library():
    for path in (ROOT / "metrics").glob("*/*.py"):
        ours = {name for name in imports(path) if name.startswith("geceval.") and name != "geceval.hub.evaluate_module"}
        assert {name.split(".")[1] for name in ours} <= {"scorers", "hub"}, path
    for folder in ("training", "metrics", "spaces"):
        assert not list((ROOT / folder).rglob("__init__.py"))
    for path in (ROOT / "training").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES, path
        assert not {name for name in imports(path) if name.split(".")[0] in {"metrics", "spaces", "tests"}}, path


@pytest.mark.parametrize(
    "statement",
    [
        "import geceval; geceval.list_metrics()",
        "from geceval.cli.meta import meta, VERBS, shared; [shared.imported(place) for place in VERBS.values()]",
        "import geceval.edits.m2, geceval.edits.edit, geceval.meta.trueskill",
        "from geceval import registry; [registry.make_scorer(name) for name in registry.list_metrics()]",
        "from geceval import registry; registry.make_scorer('gleu').score(['a b'], ['a b'], [['a b']])",
    ],
)
def test_imports_are_cheap(statement):
    """Scorers included; `geceval.load` needs evaluate, which imports transformers where that is installed."""
    code = f"import sys; {statement}; print(*({HEAVY!r} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("application()", {"numpy", "geceval.registry", "geceval.cli.score", "geceval.cli.text_files"}),
        ("[application(verb) for verbs in PANELS.values() for verb in verbs if verb != 'meta']", {"numpy"}),
        ("application('meta')", {"geceval.scorers.base"}),
    ],
)
def test_the_help_of_a_verb_starts_at_once(statement, absent):
    """What a verb works with is imported when it works."""
    absent = absent | HEAVY | {"pyarrow", "scipy", "jinja2"}
    code = "import sys; from geceval.cli.app import PANELS, application; "
    code += f"{statement}; print(*({absent!r} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
