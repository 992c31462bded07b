"""Finds the packages by listing their folders, so a new game needs no entry here. The rest is in pyproject.toml."""

from setuptools import find_packages, setup

FOLDERS = {"fivedice": "package", "fivedice.envs": "envs", "fivedice.agents": "agents", "fivedice.configs": "configs"}

setup(
    package_dir=FOLDERS,
    packages=[
        *FOLDERS,
        *(f"{package}.{inner}" for package, folder in FOLDERS.items() for inner in find_packages(folder)),
    ],
)
