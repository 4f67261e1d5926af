"""For narrow screens (with static/site.css): tables that become one card per row, charts that can be had large."""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

WIDE = 3  # columns


class Cards(SphinxPostTransform):
    """Puts the name of its column before the text of each cell, where only narrow screens show it."""

    default_priority = 800
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for table in self.document.findall(nodes.table):
            head, body = next(table.findall(nodes.thead), None), next(table.findall(nodes.tbody))
            if head is None or len(list(head.findall(nodes.entry))) < WIDE:
                continue
            names = [entry.astext() for entry in head.findall(nodes.entry)]
            table["classes"].append("cards")
            for row in body.findall(nodes.row):
                for name, cell in list(zip(names, row.children, strict=True))[1:]:  # the first cell is the heading
                    place = next(cell.findall(nodes.paragraph), None)
                    if place is not None:
                        place.insert(0, nodes.inline("", f"{name}: ", classes=["column-name"]))


class Charts(SphinxPostTransform):
    """Charts take all of the width; Sphinx links a picture that has one to its file."""

    default_priority = 800
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for image in self.document.findall(nodes.image):
            if image["uri"].endswith(".svg"):
                image["width"] = "100%"


def setup(app) -> dict[str, bool]:
    app.add_post_transform(Cards)
    app.add_post_transform(Charts)
    return {"parallel_read_safe": True}
