"""Links that hold the input of a tab, in the part of the address that browsers send to no server."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr
from gradio.context import Context

import render
import wiring

LONGEST = 8_000  # characters; programs for mail and chat cut longer addresses
LARGEST = 200_000  # bytes that a link may unpack to


def pack(values: Mapping[str, Any]) -> str:
    """Values as letters that an address may hold."""
    content = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")


def unpack(text: str) -> dict[str, Any]:
    """The values of a link; none if it was cut, or made by hand."""
    try:
        content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        values = json.loads(zlib.decompressobj().decompress(content, LARGEST))
        json.dumps(values, ensure_ascii=False).encode()  # half a pair of surrogates is no text
    except (ValueError, zlib.error, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def link(name: str, values: Mapping[str, Any]) -> str:
    """A line with a link to a tab with this input, or why there is none."""
    address = f"#{name}={pack(values)}"
    if len(address) > LONGEST:
        return render.warning(
            f"This input makes a link of {len(address):,} characters, and programs for mail and chat may cut it after "
            f"{LONGEST:,}: leave a reference out, or take shorter texts."
        )
    return f'<p class="gv-note" role="status">Copied: <a href="{address}">link to this input</a></p>'


def opened(fields: Sequence[Any], address: str) -> list[Any]:
    """What a link puts into the fields; what it does not hold, or a field cannot show, leaves it as it is."""
    values = unpack(address)
    return [_fitting(field, values.get(field.label)) for field in fields]


def _fitting(field: Any, value: Any) -> Any:
    known = [each for _, each in field.choices] if hasattr(field, "choices") else None
    if isinstance(field, gr.CheckboxGroup):
        return [each for each in known if each in value] if isinstance(value, list) else gr.skip()
    kind = bool if isinstance(field, gr.Checkbox) else str
    return value if isinstance(value, kind) and (known is None or value in known) else gr.skip()


def build(name: str, title: str, fields: Sequence[Any]) -> None:
    """A button that copies the link to the input of a tab; a page that is opened with it shows that input, scored."""
    button = gr.Button("Copy a link to this input", size="sm", elem_id=f"{name}-share")
    shown = gr.HTML("", elem_id=f"{name}-link", apply_default_css=False)
    address = gr.Textbox(visible=False)
    labels = [field.label for field in fields]
    made = button.click(
        lambda *values: link(name, dict(zip(labels, values, strict=True))), list(fields), shown, **wiring.SILENT
    )
    made.then(None, shown, None, js=_COPY, **wiring.SILENT)
    gr.on([field.change for field in fields], None, None, shown, js='() => ""', **wiring.SILENT)
    key = {"NAME": json.dumps(f"#{name}="), "TITLE": json.dumps(title), "BUTTON": json.dumps(f"{name}-button")}
    filled = Context.root_block.load(
        lambda text: opened(fields, text), address, list(fields), js=_js(_OPEN, key), **wiring.SILENT
    )
    filled.then(None, None, None, js=_js(_START, key), **wiring.SILENT)


_COPY = """(shown) => {
    const found = shown.match(/href="(#[^"]+)"/);
    if (!found) return;
    history.replaceState(null, "", found[1]);
    navigator.clipboard?.writeText(location.href).catch(() => {});
}"""
_OPEN = """() => {
    window.onhashchange = () => location.reload();
    if (!location.hash.startsWith(NAME)) return [""];
    [...document.querySelectorAll('button[role="tab"]')].find(tab => tab.textContent.trim() === TITLE)?.click();
    return [location.hash.slice(NAME.length)];
}"""
_START = """() => { if (location.hash.startsWith(NAME)) document.getElementById(BUTTON)?.click(); }"""


def _js(code: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        code = code.replace(word, value)
    return code
