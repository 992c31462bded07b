"""The built wheel, used from another folder in an environment that knows nothing of the source folder."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from fivedice.envs import GAMES, load_game

ROOT = Path(__file__).parents[2]
NEEDS = {"fivedice.envs.api.rllib": "ray"}  # modules that need a package which the tests do not install
BUILT_FROM = ("package", "envs", "agents", "configs", "pyproject.toml", "setup.py", "README.md", "LICENSE")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # From a copy: a build leaves files beside its sources, and takes in what an earlier one left.
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source]
    said = subprocess.run(build, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel in it. Third-party packages are those of this environment."""
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel],
        check=True,
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    # A folder that a .pth file names is searched, but its own .pth files are not read: no editable install gets in.
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "third-party.pth").write_text(sysconfig.get_path("purelib"))
    return python


def run(command: list[object], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment, in the environment's own folder."""
    folder = Path(str(command[0])).parent
    # Machine code of a place that is gone tomorrow does not belong into the user's cache.
    environment = os.environ | {"COLUMNS": "200", "NUMBA_CACHE_DIR": str(folder.parent / "cache")} | variables
    environment.pop("PYTHONPATH", None)
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def said(python: Path, code: str) -> str:
    """What a program prints, with every warning an error and nothing compiled."""
    ended = run([python, "-W", "error", "-c", code], NUMBA_DISABLE_JIT="1")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_wheel__holds_code_types_configs_and_pages_and_nothing_else(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    kinds = {".py", ".pyi", ".typed", ".toml", ".md", ".ttf", ".html", ".css", ".js", ".svg", ".safetensors"}
    expected = {
        f"fivedice/{path.relative_to(ROOT).as_posix().removeprefix('package/')}"
        for folder in ("package", "envs", "agents", "configs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds and not path.name.startswith(".")
    }
    assert held == expected | {"fivedice/envs/display/fonts/OFL.txt"}
    assert {"fivedice/envs/py.typed", "fivedice/agents/py.typed"} <= held
    assert "fivedice/envs/yum/README.md" in held
    assert {f"fivedice/envs/{name}_v{version}.pyi" for name, version in GAMES.items()} <= held
    assert {"fivedice/agents/web/static/index.html", "fivedice/agents/games/set_cubed/planner_weights.toml"} <= held


def test_wheel__readme_links_to_files_of_the_repository(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        text = file.read(name).decode()
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    base = re.search("^Project-URL: Source, (.*)$", text, re.MULTILINE)
    assert base is not None
    ours = [link.removeprefix(base[1]) for link in links if link.startswith(base[1])]
    assert [link for link in ours if not (ROOT / re.sub("^/(blob|raw)/main/", "", link)).is_file()] == []
    pictures = re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", text)
    assert pictures
    assert all(picture.startswith(f"{base[1]}/raw/main/docs/") for picture in pictures)


def test_wheel__is_what_is_imported(python: Path) -> None:
    for package in ("fivedice.envs", "fivedice.agents", "fivedice.configs"):
        where = Path(said(python, f"import {package} as it; print(it.__file__)"))
        assert where.is_relative_to(python.parent.parent)
        assert not where.is_relative_to(ROOT)


def test_wheel__every_module_can_be_imported(python: Path) -> None:
    modules = [
        ".".join(["fivedice", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
        for folder in ("envs", "agents")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    assert len(modules) > 30
    assert set(NEEDS) <= set(modules)
    code = f"""
import importlib, importlib.util, warnings
for name in {modules}:
    needed = {NEEDS}.get(name)
    if needed is None:
        importlib.import_module(name)
    elif importlib.util.find_spec(needed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the other package warns of is not ours
            importlib.import_module(name)
    else:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            assert error.name == needed, error
        else:
            raise AssertionError(f"{{name}} needs no {{needed}}")
print('all')
"""
    assert said(python, code) == "all"


def test_wheel__knows_its_version_and_runs_as_a_module(python: Path) -> None:
    version = said(
        python, "import fivedice, importlib.metadata as m; print(fivedice.__version__, m.version('fivedice'))"
    )
    number = version.split()[0]
    assert version == f"{number} {number}"
    for module in ("fivedice", "fivedice.agents.cli"):
        ended = run([python, "-m", module, "--version"])
        assert (ended.returncode, ended.stdout.strip()) == (0, number)


def test_wheel__leaves_no_packages_that_could_shadow_others(python: Path) -> None:
    code = "import importlib.util as u; print([n for n in ('envs', 'agents', 'configs') if u.find_spec(n)])"
    assert said(python, code) == "[]"


@pytest.mark.parametrize("name", GAMES)
def test_wheel__makes_every_environment(python: Path, name: str) -> None:
    game = load_game(name)
    code = f"""
import gymnasium, pettingzoo, fivedice.envs
aec = pettingzoo.make("aec", "{game.aec_id}")
aec.reset(seed=1)
observation, *_ = aec.last()
aec.step(aec.action_space(aec.agent_selection).sample(observation["action_mask"]))
env = gymnasium.make("{game.gymnasium_id}", opponents="random")
_, info = env.reset(seed=1)
env.step(env.action_space.sample(info["action_mask"]))
envs = gymnasium.make_vec("{game.gymnasium_id}", num_envs=3, opponents="random")
print(aec.metadata["name"], envs.reset(seed=1)[0].shape)
"""
    assert said(python, code) == f"{name}_v{game.version} {(3, game.layout(game.make_options()).size)}"


def test_wheel__trains_with_a_packaged_configuration_by_its_command(python: Path, tmp_path: Path) -> None:
    command: list[object] = [python.parent / "fivedice", "train", "--config", "yum-smoke", "--runs", tmp_path]
    sizes = {"total-timesteps": 64, "n-envs": 2, "n-steps": 16, "batch-size": 32, "eval-games": 4, "final-games": 4}
    ended = run([*command, "--name", "it", *(word for name, size in sizes.items() for word in (f"--{name}", size))])
    assert ended.returncode == 0, ended.stderr
    assert "points per game" in ended.stdout
    code = f"import fivedice.agents as a; print(a.load({str(tmp_path / 'it' / 'best.safetensors')!r}).name)"
    assert said(python, code) == "best"


def test_wheel__says_which_configurations_there_are(python: Path) -> None:
    ended = run([python.parent / "fivedice", "train", "--config", "yum-smok"])
    assert ended.returncode == 2
    assert "did you mean 'yum-smoke'" in ended.stderr
