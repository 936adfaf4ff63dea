"""A reader of HTML whose tags close in order."""

import html.parser


class Markup(html.parser.HTMLParser):
    """`tags` with their attributes, `text`, and `tables` of (class, text)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables, self.open, self.tags, self.text = [], [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

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
