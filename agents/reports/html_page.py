"""The parts of a self-contained HTML page: style, document, tables and pictures."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
img { max-width: 100%; } p { max-width: 46rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .8rem .15rem 0; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } thead th, tfoot td { border-bottom: 1px solid #999; }
tfoot td { border-top: 1px solid #999; border-bottom: none; font-weight: bold; }
.headline { font-size: 1.2rem; margin: .5rem 0; } .headline b { font-size: 2.4rem; }
summary { cursor: pointer; padding: .3rem 0; }
iframe { width: 100%; border: 1px solid #ccc; border-radius: 8px; }
"""


def html_page(title: str, body: str) -> str:
    """A whole HTML page.

    Args:
        title: the title, as text.
        body: the content below the title, as HTML.
    """
    escaped = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escaped}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escaped}</h1>\n{body}</body>\n</html>\n"
    )


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str] | None = None) -> str:
    """A table; all cells are text.

    Args:
        headings: the headings of the columns.
        rows: the cells of each row.
        total: the cells of a last row that is set apart, or None.
    """

    def line(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in cells)}</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    foot = f"<tfoot>{line(total, 'td')}</tfoot>" if total else ""
    return f"<table><thead>{line(headings, 'th')}</thead><tbody>\n{body}\n</tbody>{foot}</table>\n"


def html_image(path: Path, alt: str) -> str:
    """A PNG file as an image that is contained in the page.

    Args:
        path: the file.
        alt: the alternative text.
    """
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">\n'


def html_headline(number: str, words: str) -> str:
    """The most important number of the page, in large type, and what it is; both are text."""
    return f'<p class="headline"><b>{html.escape(number)}</b> {html.escape(words)}</p>\n'


def html_frame(page: str, title: str, *, height: str) -> str:
    """Another whole page, which is contained in this one. Its scripts cannot reach this page.

    Args:
        page: the other page, as HTML.
        title: what it shows, for screen readers.
        height: the height of the frame in CSS.
    """
    return (
        f'<iframe title="{html.escape(title)}" sandbox="allow-scripts" loading="lazy" style="height: {height}" '
        f'srcdoc="{html.escape(page)}"></iframe>\n'
    )
