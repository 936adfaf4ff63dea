"""The demo of geceval: `python app.py`, then open the address that it prints. It works without a network."""

from __future__ import annotations

import logging
import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_OFFLINE", "1")  # all models come with the package
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that wait leave the processor to other visitors

import gradio as gr  # noqa: E402 - reads the environment

import scoring  # noqa: E402
import tab_about  # noqa: E402
import tab_chunks  # noqa: E402
import tab_compare  # noqa: E402
import tab_detect  # noqa: E402
import tab_impacts  # noqa: E402
import tab_meta  # noqa: E402
import tab_score  # noqa: E402
import theme  # noqa: E402

TABS = {
    "Score a correction": tab_score,
    "Edit impacts": tab_impacts,
    "Chunks": tab_chunks,
    "Detect errors": tab_detect,
    "Rank systems": tab_compare,
    "Meta-evaluation": tab_meta,
    "About": tab_about,
}
WAITING_ROOM = 512  # visitors who may wait for a result; the next is told to come back

LAUNCH = {
    **theme.LAUNCH,
    "allowed_paths": [str(scoring.EXAMPLE)],
    "max_file_size": "20mb",
    "ssr_mode": False,
    "share": False,
    "show_error": True,  # what gradio refuses comes with its reason; our own handlers give nothing else away
    "footer_links": ["api", "settings"],
    "enable_monitoring": False,
}


def build() -> gr.Blocks:
    """The whole page."""
    with gr.Blocks(title="geceval", analytics_enabled=False, delete_cache=(3600, 3600)) as page:
        gr.HTML(theme.HEADER, apply_default_css=False)
        with gr.Tabs(overflow_behavior="wrap"):
            for title, tab in TABS.items():
                with gr.Tab(title, id=title):
                    tab.build()
    return page.queue(status_update_rate=5, default_concurrency_limit=2, max_size=WAITING_ROOM)


demo = build()

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    demo.launch(**LAUNCH)
