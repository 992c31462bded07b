"""What pyproject.toml cannot say: packages are found by listing folders, and the README's links work elsewhere, too."""

import re
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
SOURCE = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]
FOLDERS = {"fivedice": "package", "fivedice.envs": "envs", "fivedice.agents": "agents", "fivedice.configs": "configs"}


def with_absolute_links(text: str) -> str:
    """A Markdown text whose links to files of the repository lead there from any other place."""
    text = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", rf"\1{SOURCE}/raw/main/", text)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\1{SOURCE}/blob/main/", text)


setup(
    package_dir=FOLDERS,
    packages=[
        *FOLDERS,
        *(f"{package}.{inner}" for package, folder in FOLDERS.items() for inner in find_packages(folder)),
    ],
    long_description=with_absolute_links((HERE / "README.md").read_text("utf-8")),
    long_description_content_type="text/markdown",
)
