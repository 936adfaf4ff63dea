"""Take a picture: `python docs/picture.py` writes docs/page.png, `python docs/picture.py types.html` docs/types.png.

Needs the extras `dev` and Debian's Chromium (`apt-get install chromium`).
"""

from __future__ import annotations

import io
import os
import shutil
import socket
import sys
from pathlib import Path

import playwright.sync_api
from PIL import Image

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, LARGEST = 1240, 820, 150_000  # pixels, pixels, bytes


def main(page: str = "") -> None:
    """Take a picture of an HTML page that geceval wrote; without one, of the demo's first example."""
    if page:
        take(Path(page).resolve().as_uri(), "table", HERE / Path(page).with_suffix(".png").name)
        return
    sys.path.insert(0, str(HERE.parent / "spaces" / "demo"))
    import app

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app.demo.launch(**app.LAUNCH, server_name="127.0.0.1", server_port=port, prevent_thread_lock=True, quiet=True)
    take(f"http://127.0.0.1:{port}", "#score-view table", HERE / "page.png")  # of the example that the page begins with
    app.demo.close()


def take(address: str, wait_for: str, path: Path) -> None:
    """Write a small picture of what is seen first."""
    with playwright.sync_api.sync_playwright() as driver:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.set_default_timeout(300_000)  # models load first
        page.goto(address)
        page.locator(wait_for).first.wait_for()
        page.wait_for_timeout(1_000)  # until fonts and fades have settled
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(64, method=Image.Quantize.MEDIANCUT).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    if size > LARGEST:
        sys.exit(f"more than {LARGEST:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
