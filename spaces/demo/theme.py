"""Theme, header and security headers of the page, and the result panel that tabs share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geceval.cli.pages import FRAGMENT_STYLE

HEADER = """<header class="gv-header">
<h1>geceval</h1>
<p>How good is a grammatical correction? Metrics side by side, offline, on an ordinary computer.</p>
</header>"""

# The browser itself then refuses whatever does not come from this server.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'"
)


class Headers:
    """Adds headers that keep the page to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back with the headers."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", []),
                    (b"content-security-policy", POLICY.encode()),
                    (b"referrer-policy", b"no-referrer"),
                    (b"x-content-type-options", b"nosniff"),
                ]
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def theme() -> gr.themes.Base:
    """Gradio's own look with the fonts of the visitor's system."""
    return gr.themes.Default(
        primary_hue="indigo",
        secondary_hue="indigo",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        # Gradio's own grey is too pale to read on white.
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_400",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_400",
        # And white on its indigo.
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
    )


def answer(name: str, page: str, data: Any = None) -> tuple[gr.HTML, gr.JSON]:
    """The half of a tab that shows what was found, and the same as JSON."""
    with gr.Column(elem_classes="gv-answer"):
        view = gr.HTML(page, elem_id=f"{name}-view", apply_default_css=False)
        with gr.Accordion("As JSON", open=False):
            values = gr.JSON(data, show_label=False, elem_id=f"{name}-data")
    return view, values


LAUNCH: dict[str, Any] = {
    "theme": theme(),
    "css": Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    + FRAGMENT_STYLE.read_text(encoding="utf-8"),
    "app_kwargs": {"middleware": [Middleware(Headers)]},
}
