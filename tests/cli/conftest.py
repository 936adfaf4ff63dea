"""The command, run in this process, and a reader of its pages."""

from __future__ import annotations

import html.parser
import json

import pytest


@pytest.fixture
def call(capsys):
    """Run `geceval` with arguments: exit code, standard output, standard error."""
    from geceval.cli.app import run

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def ok(call):
    """Run what must succeed without a warning; its output."""

    def ok(*arguments):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        return out

    return ok


@pytest.fixture
def fails(call):
    """Run what must fail as a mistake of the user; its one line."""

    def fails(*arguments):
        code, out, err = call(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("geceval: error: ")
        return err.removeprefix("geceval: error: ").strip()

    return fails


@pytest.fixture
def answer(ok):
    """Run what must succeed without a warning; its JSON."""
    return lambda *arguments: json.loads(ok(*arguments, "--format", "json"))


@pytest.fixture(scope="session")
def write_gjg15():
    """A function that writes a checkout of GJG15: invented outputs by system, and ranking items as XML."""

    def write(folder, outputs, items):
        submissions = folder / "data/original/official_submissions"
        submissions.mkdir(parents=True)
        for name, lines in outputs.items():
            (submissions / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "data/judgments.xml").write_text(f"<r>{items}</r>", encoding="utf-8")
        return folder

    return write


class Page(html.parser.HTMLParser):
    """A page that stands alone and whose tags close in order: `tags`, `text`, and `tables` of (class, text)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables, self.open, self.tags, self.text = [], [], [], ""
        self.feed(text)
        assert self.open == []
        assert not {tag for tag, _ in self.tags} & {"script", "link", "iframe", "object", "base"}
        links = [value for _, attributes in self.tags for key, value in attributes.items() if key in ("src", "href")]
        assert all(link.startswith(("data:", "#")) for link in links)
        policy = next(attributes["content"] for _, attributes in self.tags if attributes.get("http-equiv"))
        assert policy.startswith("default-src 'none'")

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append((dict(attributes).get("class"), ""))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if set(self.open) & {"td", "th"}:
            kind, text = self.tables[-1][-1][-1]
            self.tables[-1][-1][-1] = kind, " ".join([*text.split(), *data.split()])


@pytest.fixture
def read_page():
    """The reader of a page."""
    return Page
