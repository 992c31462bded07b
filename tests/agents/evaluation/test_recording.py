"""Games as a data set of Minari: its episodes are those of the Gymnasium environment, and it is whole or absent."""

from pathlib import Path
from typing import Any

import minari
import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load, record
from fivedice.agents.evaluation import recording
from fivedice.agents.evaluation.recording import play_episodes
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View

YUM = load_game("yum")


class FirstLegal:
    name = "first"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.argmax(axis=1)


class LastLegal:
    name = "last"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.shape[1] - 1 - view.masks[:, ::-1].argmax(axis=1)


class Interrupted(FirstLegal):
    def act(self, view: View) -> NDArray[np.int64]:
        raise KeyboardInterrupt


@pytest.mark.parametrize("reward", ["win", "score", "margin"])
@pytest.mark.parametrize("name", GAMES)
def test_episodes__rewards_add_up_to_the_payoff_of_every_seat(name: str, reward: str) -> None:
    game = load_game(name)
    batch = Batch(game, 6, reward=reward)
    episodes = list(play_episodes(batch, [load("random")], seed=4, first_game=2))
    again = Batch(game, 6, reward=reward)
    again.reset(4, first_game=2)
    payoffs, rows = np.zeros((6, batch.num_players)), again.all_rows
    decisions = np.zeros((6, batch.num_players), np.int64)
    while len(rows):
        view = again.view(rows)
        np.add.at(decisions, (rows, view.seats), 1)
        again.step(load("random").act(view), rows, restart=False)
        payoffs[rows] += again.rewards[rows]
        rows = rows[~again.over[rows]]
    assert [(episode.game - 2, episode.seat) for episode in episodes] == [*zip(*np.nonzero(decisions), strict=True)]
    for episode in episodes:
        place = episode.game - 2, episode.seat
        assert episode.rewards.sum() == pytest.approx(payoffs[place])
        assert len(episode.actions) == len(episode.rewards) == decisions[place] == len(episode.masks) - 1
        assert episode.masks[np.arange(len(episode.actions)), episode.actions].all()
        assert not episode.masks[-1].any()


def test_episodes__are_those_of_the_gymnasium_environment() -> None:
    batch = Batch(YUM, 1, reward="margin")
    first, second = play_episodes(batch, [FirstLegal(), LastLegal()], seed=4, first_game=0)
    for episode, opponent in ((first, LastLegal()), (second, FirstLegal())):
        env = SeatEnv(YUM, opponents=opponent, seat=episode.seat, reward="margin")
        observation, info = env.reset(seed=4)
        for step, action in enumerate(episode.actions):
            assert (observation == episode.observations[step]).all()
            assert (info["action_mask"] == episode.masks[step]).all()
            observation, reward, terminated, _, info = env.step(action)
            assert reward == episode.rewards[step]
            assert terminated == (step == len(episode.actions) - 1)
        assert (observation == episode.observations[-1]).all()
        assert (info["score"], info["rank"]) == (episode.score, 1 if episode.win else 2)


@pytest.mark.parametrize(("num_players", "policies"), [(2, 2), (3, 3), (3, 1)])
def test_record__minari_reads_every_episode(tmp_path: Path, num_players: int, policies: int) -> None:
    chosen = [FirstLegal(), LastLegal(), load("random")][:policies]
    out = tmp_path / "deep" / "some-v3"
    data = record(
        "yum", chosen, out, games=4, num_players=num_players, seed=7, reward="score", options={"zeros": "free"}
    )
    assert data == out / "data"
    dataset = minari.MinariDataset(data)
    expected = list(
        play_episodes(
            Batch(YUM, 4, num_players=num_players, reward="score", zeros="free"), chosen, seed=7, first_game=0
        )
    )
    assert dataset.total_episodes == len(expected) == 4 * num_players
    for found, episode, metadata in zip(
        dataset.iterate_episodes(), expected, dataset.storage.get_episode_metadata(range(len(expected))), strict=True
    ):
        for name in ("observations", "actions", "rewards"):
            array, own = getattr(found, name), getattr(episode, name)
            assert array.dtype == own.dtype
            assert (array == own).all()
        assert (found.infos["action_mask"] == episode.masks).all()
        assert found.terminations.tolist() == [False] * (len(found) - 1) + [True]
        assert not found.truncations.any()
        assert metadata["policy"] == chosen[(episode.seat + episode.game) % policies].name
        shown = (metadata["seed"], metadata["game"], metadata["seat"], metadata["score"], metadata["win"])
        assert shown == (7, episode.game, episode.seat, episode.score, episode.win)
    spec = dataset.spec
    assert spec.dataset_id == "yum/some-v3"
    assert dataset.storage.metadata["algorithm_name"] == ", ".join(policy.name for policy in chosen)
    env: Any = dataset.recover_environment().unwrapped
    assert (env.table.batch.num_players, env.table.batch.reward) == (num_players, "score")
    assert YUM.options_dict(env.table.batch.options)["zeros"] == "free"
    assert env.observation_space == dataset.observation_space
    assert env.action_space == dataset.action_space


def test_record__a_game_that_is_cut_short_is_truncated(tmp_path: Path) -> None:
    data = record(
        "showdown_yahtzee",
        ["random"],
        tmp_path / "short",
        games=1,
        options={"max_turns": 4, "chips": (2, 2, 2, 2, 2, 2)},
    )
    episode = minari.MinariDataset(data)[0]
    assert (episode.truncations[-1], episode.terminations.any()) == (True, False)


def test_record__equal_seeds_give_equal_files_however_games_are_batched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for name, seed, at_once in (("a", 1, 256), ("b", 1, 256), ("c", 1, 2), ("d", 2, 256)):
        monkeypatch.setattr(recording, "GAMES_AT_ONCE", at_once)
        folder = tmp_path / name
        record("yum", ["random"], folder / "same-v0", games=5, seed=seed)
        files.append(
            [(folder / "same-v0" / "data" / file).read_bytes() for file in ("main_data.hdf5", "metadata.json")]
        )
    assert files[0] == files[1]
    assert files[0][0] != files[3][0]
    one, other = (minari.MinariDataset(tmp_path / name / "same-v0" / "data") for name in "ac")
    for first, second in zip(one.iterate_episodes(), other.iterate_episodes(), strict=True):
        assert (first.actions == second.actions).all()
        assert (first.rewards == second.rewards).all()


def test_record__interrupted_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "GAMES_AT_ONCE", 2)

    def stop(games: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record("yum", ["random"], tmp_path / "it", games=5, progress=stop)  # after the first games were written
    with pytest.raises(KeyboardInterrupt):
        record("yum", [Interrupted()], tmp_path / "it", games=5)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("policies", "settings", "why"),
    [
        ([], {}, "no policy given"),
        ("random", {}, "'random' is one policy; name policies in a list"),
        (["random"] * 2, {"num_players": 3}, "2 policies do not fit 3 seats; name one, or 3"),
        (["random"] * 7, {}, "num_players"),
        (["random"], {"games": 0}, "games=0 is too few"),
        (["random"], {"reward": "points"}, "reward='points' is unknown"),
        (["nobody"], {}, "'nobody' is not a policy"),
    ],
)
def test_record__what_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, policies: list[str] | str, settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        record("yum", policies, tmp_path / "new" / "it", **{"games": 1, **settings})
    assert not list(tmp_path.iterdir())


def test_record__writes_into_no_folder_that_exists_or_that_minari_cannot_name(tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    with pytest.raises(ValueError, match="it exists; choose another folder"):
        record("yum", ["random"], tmp_path / "it", games=1)
    with pytest.raises(ValueError, match=r"'a b' is no name for a data set"):
        record("yum", ["random"], tmp_path / "a b", games=1)
    assert [file.name for file in tmp_path.rglob("*")] == ["it"]
