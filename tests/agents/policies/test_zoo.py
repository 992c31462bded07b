"""The agents that come with the package: each plays as its card says, and can be named wherever a policy is named."""

import shutil
from pathlib import Path

import pytest

from fivedice.agents.cli import app
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import evaluate
from fivedice.agents.evaluation.schedule import policy_digest
from fivedice.agents.play.seats import offers
from fivedice.agents.policies import zoo
from fivedice.agents.policies.checkpoint import load_checkpoint, read_card
from fivedice.agents.policies.registry import load
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.agents.policies.zoo import FOLDER, agent_file, agent_names
from fivedice.agents.training import pretrain
from fivedice.agents.training.pretrain import Plan, plans, results_of
from fivedice.envs import load_game

NAMES = agent_names()
SAMPLE = 200  # games


def test_agents__are_those_of_the_plans_and_small() -> None:
    assert set(NAMES) == set(plans())
    assert sum((FOLDER / f"{name}.safetensors").stat().st_size for name in NAMES) < 10e6


@pytest.mark.parametrize("name", NAMES)
def test_agent__has_a_complete_card(name: str) -> None:
    card, plan = read_card(FOLDER / f"{name}.safetensors"), plans()[name]
    assert card["seed"] == plan.seed
    assert card["libraries"]["torch"]
    trained = card["zoo"]
    assert (trained["config"], trained["settings"]) == (plan.config, plan.settings)
    assert all(trained[key] for key in ("decisions", "commit", "machine"))
    assert (trained["results"]["games"], trained["results"]["seed"]) == (plan.games, 7)


@pytest.mark.parametrize("name", NAMES)
def test_agent__plays_as_well_as_its_card_says(name: str) -> None:
    """Other dice than those of the card: the means differ by less than twice both intervals together."""
    policy = load(name)
    assert policy.name == name
    card = read_card(FOLDER / f"{name}.safetensors")
    players = int(card["num_players"])
    contenders = [name, "greedy"] if players > 1 else [name]
    games = SAMPLE // 4 if card["game"] == "set_cubed" else SAMPLE
    found = evaluate(card["game"], contenders, games=games, num_players=players, seed=11, options=card["options"])[0]
    pairs = [(found.points, card["zoo"]["results"]["points"])]
    pairs += [(wins, card["zoo"]["results"][f"win_rate_vs_{rival}"]) for rival, wins in found.wins.items()]
    for sample, written in pairs:
        told = Estimate.from_dict(written)
        assert abs(sample.mean - told.mean) < 2 * (sample.half_width + told.half_width)


def test_command__lists_every_agent_with_its_results(capsys: pytest.CaptureFixture[str]) -> None:
    app("zoo", result_action="return_value")
    rows = {line.split()[0]: " ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip()}
    for name in NAMES:
        card = read_card(FOLDER / f"{name}.safetensors")
        results = card["zoo"]["results"]
        assert rows[name].startswith(f"{name} {card['num_players']} ")
        assert f"{100 * results['win_rate_vs_greedy']['mean']:.1f} ±" in rows[name]
        assert ("of_optimum" in results) == (f"{100 * results.get('of_optimum', 0):.1f} % " in rows[name])
        assert f" {card['zoo']['decisions'] / 1e6:.2f} M" in rows[name]


def test_agent__can_be_named_wherever_a_policy_is_named() -> None:
    assert isinstance(load("rollout:yum-quick:3"), RolloutPolicy)
    assert policy_digest("yum-quick") == policy_digest(str(agent_file("yum-quick")))
    assert "yum-quick" in [offer.name for offer in offers(load_game("yum"))]
    assert "yum-quick" not in [offer.name for offer in offers(load_game("set_cubed"))]
    with pytest.raises(ValueError, match="'yum-quik' is not a policy; did you mean 'yum-quick'"):
        load("yum-quik")
    with pytest.raises(ValueError, match="'yum-quick' was trained for"):
        evaluate("yum", ["yum-quick", "random"], games=4, num_players=3)


def test_pretrain__trains_evaluates_and_writes_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan("yum-smoke", 5, 40, {"total_timesteps": 4096, "eval_every": 4096, "final_games": 10})
    path = pretrain.pretrain("tiny", plan, tmp_path / "runs", tmp_path / "out")
    assert path == tmp_path / "out" / "tiny.safetensors"
    card = read_card(path)
    assert (card["seed"], card["zoo"]["settings"], card["zoo"]["decisions"]) == (5, plan.settings, 4096)
    results = card["zoo"]["results"]
    assert {"games", "seed", "points", "adjusted_points", "of_optimum", "win_rate_vs_greedy"} == set(results)
    assert results == results_of(tmp_path / "runs" / "tiny" / "best.safetensors", 40)
    before = load_checkpoint(path)
    again = pretrain.pretrain("tiny", plan, tmp_path / "runs", tmp_path / "again")  # the run is finished
    assert load_checkpoint(again).network.tensors.keys() == before.network.tensors.keys()
    assert again.read_bytes() == path.read_bytes()
    shutil.copy(path, tmp_path / "out" / "other.safetensors")
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "out")
    assert agent_names() == ("other", "tiny")
    assert load("other").name == "other"


def test_pretrain__refuses_a_name_that_has_no_plan() -> None:
    with pytest.raises(SystemExit, match=r"there is no agent 'yum-slow' in agents\.toml; known are yum-quick"):
        pretrain.main("yum-slow")
