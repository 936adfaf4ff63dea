"""Pages of the site that lie outside docs/, and links between all of them; `mkdocs.yml` names this file."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"metrics": ROOT / "metrics", "models": ROOT / "src/geceval/assets"}
PAGES = {  # path in the repository to path in the site
    "README.md": "index.md",
    "training/README.md": "training/scripts.md",
    "training/what-did-not-help.md": "training/what-did-not-help.md",
    "benchmarks/README.md": "benchmarks.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "CHANGELOG.md": "changes.md",
} | {
    path.relative_to(ROOT).as_posix(): f"{place}/{path.parent.name}.md"
    for place, folder in FOLDERS.items()
    for path in sorted(folder.glob("*/README.md"))
}
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> None:
    """List the pages of each folder in the navigation."""
    for entry in config.nav:
        for title, pattern in entry.items():
            if isinstance(pattern, str) and "*" in pattern:
                entry[title] = [page for page in PAGES.values() if Path(page).match(pattern)]


def on_files(files: Any, config: Any) -> None:
    """Add the pages that lie outside docs/."""
    for path, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Lead links to where the pages lie in the site; what lies outside of it is linked in the repository, if public."""
    uri = page.file.src_uri
    here = next((path for path, place in PAGES.items() if place == uri), f"docs/{uri}")

    def lead(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        place = PAGES.get(path) or (path.startswith("docs/") and path.removeprefix("docs/"))
        if not (ROOT / path).exists():
            return link[0]  # no link, or one that the build reports
        if place:
            return f"[{text}]({posixpath.relpath(place, posixpath.dirname(uri) or '.')}{anchor})"
        return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{path}{anchor})" if config.repo_url else text

    return LINK.sub(lead, markdown)
