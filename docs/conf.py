"""The settings of Sphinx, and the directive that shows the help of a command."""

import io
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from rich.console import Console
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fivedice.agents.cli import app

ROOT = Path(__file__).parents[1]
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

project = PACKAGE["name"]
release = version = metadata.version("fivedice")
author = "The fivedice developers"
copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = ["_static"]
html_theme_options = {
    "source_repository": PACKAGE["urls"]["Source"],
    "source_branch": "main",
    "source_directory": "docs/",
}

myst_heading_anchors = 3
highlight_language = "text"  # of a block that names no language

# A docstring names code in single backquotes. A name that Sphinx does not find stays plain code.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True


# A heading that says more than the name of the section: "Attributes, each a live array that …:".
LONG_HEADING = re.compile(r"^(Attributes)\b([^:\n]+(?:\n\S[^\n]*?)*):\n(?= )", re.MULTILINE)

# How autodoc writes NumPy's NDArray[np.float32] before it shortens names.
ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[(~?[\w.]+(?:\[[^]]*\])?)\]\]")
# How Python writes a compiled function that is a default.
COMPILED = re.compile(r"CPUDispatcher\(<function (\w+)>\)")
# Text that should stay on one line: "0.2 ± 0.1", "97 %", "32-37".
TOGETHER = ((re.compile(r"(?<=\d) ± (?=\d)"), "\u00a0±\u00a0"), (re.compile(r"(?<=\d) %"), "\u00a0%"))
RANGE = re.compile(r"(?<=\d)-(?=\d)")


class CommandHelp(SphinxDirective):
    """The help of a command of `fivedice`, as its ``--help`` prints it: ``{command-help} train``."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A block of text. The help is made from the source, so the page cannot fall behind it."""
        shown = io.StringIO()
        app.help_print(self.arguments, console=Console(file=shown, width=80))
        text = "\n".join(line.rstrip() for line in shown.getvalue().strip("\n").split("\n"))
        return [nodes.literal_block(text, text, language="text")]


def shorten_headings(sphinx: Sphinx, kind: str, name: str, of: object, options: object, lines: list[str]) -> None:
    """Make such a heading a sentence, followed by the plain heading that Napoleon knows."""
    lines[:] = LONG_HEADING.sub(r"\1\2.\n\n\1:\n", "\n".join(lines)).split("\n")


def shorten_signature(
    sphinx: Sphinx, kind: str, name: str, of: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write arrays and compiled defaults in a signature as the source does."""
    if signature is not None:
        signature = COMPILED.sub(r"\1", ARRAY.sub(r"NDArray[\1]", signature))
    return signature, returns and ARRAY.sub(r"NDArray[\1]", returns)


def keep_together(sphinx: Sphinx, document: nodes.document) -> None:
    """Let no line break part a figure from its interval, or the two ends of a range in a table."""
    for text in list(document.findall(nodes.Text)):
        if isinstance(text.parent, nodes.literal | nodes.literal_block):
            continue
        new = str(text)
        for pattern, instead in TOGETHER:
            new = pattern.sub(instead, new)
        if isinstance(text.parent.parent, nodes.entry):
            new = RANGE.sub("\u2011", new)
        if new != text:
            text.parent.replace(text, nodes.Text(new))


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Add the directive, and what is done to docstrings (before Napoleon), signatures and text."""
    sphinx.add_directive("command-help", CommandHelp)
    sphinx.connect("autodoc-process-docstring", shorten_headings, priority=400)
    sphinx.connect("autodoc-process-signature", shorten_signature)
    sphinx.connect("doctree-read", keep_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
