"""The frame of HTML pages: one file without scripts that asks for no other and follows the reader's light or dark."""

from __future__ import annotations

import html

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #fff; --faint: #5f636c; --line: #d9dbe1; --head: #f3f4f7; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --paper: #15161a; --faint: #a2a6b0; --line: #34363e;
  --head: #202228; } }
body { margin: 0 auto; background: var(--paper); color: var(--ink); }
/* A box that scrolls: a shadow at its right says that there is more. */
[tabindex="0"] { margin-bottom: .75rem; background: linear-gradient(to left, var(--paper) 30%, transparent) right / 3rem
  100% no-repeat local, linear-gradient(to left, color-mix(in srgb, currentColor 25%, transparent), transparent) right /
  1rem 100% no-repeat scroll; }
@media print { [tabindex="0"] { background: none; } }
"""


def page(title: str, style: str, body: str) -> str:
    """A whole page."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{html.escape(title)}</title>
<style>{_STYLE}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
