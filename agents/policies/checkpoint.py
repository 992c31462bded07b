"""Checkpoints: a policy in one ``.safetensors`` file, with the tensors of its network and a JSON card.

The card says which game the policy plays, and how its network is built. Loading a file executes nothing in it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from fivedice.agents.policies.files import digest, no_checkpoint, readable, write_tensors
from fivedice.agents.policies.network import Network, likeliest, sampled
from fivedice.agents.policies.prior import PRIORS, Prior
from fivedice.envs import load_game
from fivedice.envs.core.canonical import canonical_view
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View

FORMAT = "fivedice checkpoint 1"
REQUIRED = {
    "game": str,
    "game_version": int,
    "num_players": int,
    "options": dict,
    "observation_digest": str,
    "action_digest": str,
    "network": dict,
}


# Settings of a network that have other names in the cards of version 0.1.
RENAMED = {
    "standard_form": "canonical_form",
    "base": "prior",
    "base_logit": "prior_logit",
    "base_span": "prior_span",
    "base_keep_span": "prior_keep_span",
    "base_features": "prior_features",
}


def make_card(
    game: Game,
    options: Options,
    net_arch: tuple[int, ...],
    activation: str,
    canonical_form: bool = False,
    prior: Prior | None = None,
) -> dict[str, Any]:
    """The part of a card that loading needs; training adds its settings and results.

    Args:
        game, options: the game and its options record, which includes the number of players.
        net_arch, activation: as for `Network`.
        canonical_form, prior: as for `CheckpointPolicy`.
    """
    num_players = int(options["num_players"])
    return {
        "game": game.name,
        "game_version": game.version,
        "num_players": num_players,
        "options": game.options_dict(options),
        "observation_digest": game.layout(options).digest,
        "action_digest": game.action_digest(options),
        "network": {
            "net_arch": list(net_arch),
            "activation": activation,
            "canonical_form": canonical_form,
            "prior": prior and prior.policy.name,
            "prior_span": prior.span if prior else 0.0,
            "prior_keep_span": prior.keep_span if prior else 0.0,
            "prior_features": prior.feature_names(game) if prior else [],
        },
    }


def save_checkpoint(path: Path, card: Mapping[str, Any], network: Network) -> None:
    """Write a checkpoint to `path`. If writing fails, a file that was there before is unchanged.

    Args:
        path: the file; folders are made as needed.
        card: what `make_card` returns, and anything else that JSON can hold.
        network: the network.

    Raises:
        OSError: the file cannot be written.
    """
    text = json.dumps(card)
    metadata = {
        "format": FORMAT,
        "card": text,
        "digest": digest(network.tensors),
        "card_digest": hashlib.sha256(text.encode()).hexdigest(),
    }
    write_tensors(path, network.tensors, metadata)


def read_card(path: Path) -> dict[str, Any]:
    """The card of a checkpoint.

    Raises:
        ValueError: the file does not exist or is not a checkpoint.
    """
    _, card = _read(path, with_tensors=False)
    return card


def load_checkpoint(path: Path, *, deterministic: bool = True) -> "CheckpointPolicy":
    """The policy in a checkpoint file.

    Args:
        path: the file.
        deterministic: as for `CheckpointPolicy`.

    Raises:
        ValueError: the file does not exist, is damaged, or is not a checkpoint that this version can play.
    """
    tensors, card = _read(path, with_tensors=True)
    try:
        game = load_game(card["game"])
        options = game.make_options(card["num_players"], card["options"])
        layout = game.layout(options)
        if card["game_version"] != game.version:
            raise ValueError(
                f"it is for version {card['game_version']} of {game.title}; this is version {game.version}"
            )
        if (card["observation_digest"], card["action_digest"]) != (layout.digest, game.action_digest(options)):
            raise ValueError("the layout of its observations or actions differs from this version's")
        net_arch, activation = card["network"].get("net_arch"), card["network"].get("activation")
        if not isinstance(net_arch, list) or not all(type(width) is int for width in net_arch):
            raise ValueError("its card does not give net_arch as a list of widths")
        canonical_form = card["network"].get("canonical_form", False)
        if not isinstance(canonical_form, bool) or (canonical_form and game.canonical is None):
            raise ValueError(f"its card has canonical_form={canonical_form!r}; {game.title} has no such form")
        prior, inputs, actions = read_prior(card["network"], game), layout.size, game.num_actions(options)
        if prior and canonical_form:
            raise ValueError("its card has both canonical_form and a prior; only one of them is possible")
        num_features = len(prior.feature_names(game)) if prior else 0
        if prior:
            inputs += (1 + num_features) * actions
        residual = prior is not None
        network = Network(tensors, inputs, actions, net_arch, activation, residual=residual, num_features=num_features)
    except (ValueError, TypeError) as error:
        _refuse(path, error)
    return CheckpointPolicy(
        readable(path.stem),
        game,
        options,
        network,
        canonical_form=canonical_form,
        prior=prior,
        deterministic=deterministic,
    )


def read_prior(network: Mapping[str, Any], game: Game) -> Prior | None:
    """The prior of the network that a card describes, or None.

    Args:
        network: the card's ``"network"``.
        game: the game.

    Raises:
        ValueError: the prior is not known, or differs from this version's.
    """
    name = network.get("prior")
    if name is None:
        return None
    if name not in PRIORS:
        raise ValueError(f"its card has prior={name!r}; known are {', '.join(map(repr, PRIORS))}")
    spans = []
    for field in ("prior_span", "prior_keep_span"):
        span = network.get(field, 0.0)
        if type(span) not in (int, float) or not 0 <= span < np.inf:
            raise ValueError(f"its card has {field}={span!r}; it must be a finite number, 0 or more")
        spans.append(span)
    span, keep_span = spans
    features = network.get("prior_features", [])
    prior = Prior(PRIORS[name], span, keep_span, features=bool(features))
    prior.check(game)
    if features != prior.feature_names(game):
        raise ValueError(f"its card has prior_features={features!r}; this version's are {prior.feature_names(game)}")
    return prior


class CheckpointPolicy:
    """A network that plays one game with one set of options and one number of players.

    Args:
        name: the policy's name in tables and infos.
        game, options: the game and its options record, which includes the number of players.
        network: the network that chooses the actions.
        canonical_form: whether the network gets observations of canonical forms (`fivedice.envs.core.canonical`).
        prior: a policy whose action is appended to each observation (see `Prior`); or None.
        deterministic: True: the most probable action. False: an action sampled from the network's probabilities, with
            `View.uniforms`.
    """

    def __init__(
        self,
        name: str,
        game: Game,
        options: Options,
        network: Network,
        *,
        canonical_form: bool = False,
        prior: Prior | None = None,
        deterministic: bool = True,
    ) -> None:
        self.name = name
        self.prior = prior
        self.game, self.options, self.network = game, options, network
        self.canonical_form, self.deterministic = canonical_form, deterministic

    def settings(self) -> dict[str, Any]:
        """The settings of the network and of its observations, by the names of `TrainConfig`."""
        settings: dict[str, Any] = self.card()["network"]
        return settings

    def card(self) -> dict[str, Any]:
        """The card for a file of this policy; see `make_card`."""
        network = self.network
        return make_card(self.game, self.options, network.net_arch, network.activation, self.canonical_form, self.prior)

    def save(self, path: str | Path, **results: Any) -> None:
        """Write a checkpoint of this policy. If writing fails, a file that was there before is unchanged.

        Args:
            path: the file, which must end in ``.safetensors``; folders are made as needed.
            results: anything else that the card should contain, such as ``reward="win"``. JSON must be able to hold it.

        Raises:
            ValueError: the file's name does not end in ``.safetensors``.
            OSError: the file cannot be written.
        """
        path = Path(path)
        if path.suffix != ".safetensors":
            raise ValueError(f"{path} is no name for a checkpoint; end it in .safetensors")
        save_checkpoint(path, {**results, **self.card()}, self.network)

    def check(self, game: Game, options: Options) -> None:
        """Raise a ValueError for another game, other options or another number of players."""
        if game is not self.game or options != self.options:
            difference = differences(self.game, self.options, game, options)
            raise ValueError(f"the checkpoint {self.name!r} was trained for {difference}")

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each decision, (N,) int64.

        Raises:
            ValueError: `view` has another game, other options or another number of players, or a decision has no legal
                action.
        """
        self.check(view.game, view.options)
        view.require_choice()
        if self.prior is not None:
            beside = np.concatenate([view.observations, self.prior.shown(view)], axis=1)
            return self._choose(beside, view.masks, view.uniforms)
        if not self.canonical_form:
            return self._choose(view.observations, view.masks, view.uniforms)
        shown = canonical_view(self.game, self.options, view.states, view.seats)
        return shown.names(self._choose(shown.observations, shown.masks, view.uniforms))

    def network_probabilities(self, view: View) -> NDArray[np.float64]:
        """How probable the network takes each action to be, (N, num_actions) float64; 0 where it is not legal.

        It does not depend on `deterministic`. Of actions that have the same canonical form, one gets the probability of
        all.

        Raises:
            ValueError: as for `act`.
        """
        self.check(view.game, view.options)
        view.require_choice()
        if self.prior is not None:
            beside = np.concatenate([view.observations, self.prior.shown(view)], axis=1)
            return softmax(self.network.logits(beside), view.masks)
        if not self.canonical_form:
            return softmax(self.network.logits(view.observations), view.masks)
        shown = canonical_view(self.game, self.options, view.states, view.seats)
        likely = softmax(self.network.logits(shown.observations), shown.masks)
        rows, actions = np.nonzero(shown.masks)
        probabilities = np.zeros(view.masks.shape)
        probabilities[rows, shown.actions[rows, actions]] = likely[rows, actions]
        return probabilities

    def _choose(
        self, observations: NDArray[np.float32], masks: NDArray[np.int8], uniforms: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        actions = np.empty(len(masks), np.int64)
        logits = self.network.logits(observations)
        if self.deterministic:
            likeliest(logits, masks, actions)
        else:
            sampled(logits, masks, uniforms, actions)
        return actions


def softmax(logits: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float64]:
    """The probabilities (N, num_actions) float64 of the legal actions, from the network's logits."""
    raised = np.where(masks != 0, logits.astype(np.float64), -np.inf)
    weights = np.exp(raised - raised.max(axis=1, keepdims=True))
    probabilities: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return probabilities


def differences(game: Game, options: Options, other: Game, others: Options) -> str:
    """How one game with its options differs from another, for messages: ``"Yum with num_players=2, not 3"``."""
    if game is not other:
        return f"{game.title}, not for {other.title}"
    own = {"num_players": int(options["num_players"]), **game.options_dict(options)}
    theirs = {"num_players": int(others["num_players"]), **other.options_dict(others)}
    differing = [f"{name}={value!r}, not {theirs[name]!r}" for name, value in own.items() if value != theirs[name]]
    return f"{game.title} with {' and '.join(differing)}"


def _read(path: Path, *, with_tensors: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    if not path.is_file():
        raise ValueError(no_checkpoint(path))
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()} if with_tensors else {}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:
        # Data types that NumPy does not know, such as bfloat16, raise the last two.
        _refuse(path, f"it is not a complete safetensors file of float32 tensors ({error})")
    if "format" not in metadata and "notes" in metadata:
        _refuse(
            path,
            f"it is the resume file of a training run, not a policy; use best.safetensors beside it, "
            f"or continue the run by fivedice train --resume {path.parent}",
        )
    if metadata.get("format") != FORMAT:
        _refuse(path, f"its format is {metadata.get('format')!r}, not {FORMAT!r}")
    if with_tensors and metadata.get("digest", digest(tensors)) != digest(tensors):
        _refuse(path, "the file is damaged: the checksum of its tensors does not match")
    text = metadata.get("card", "")
    of_card = hashlib.sha256(text.encode()).hexdigest()
    if metadata.get("card_digest", of_card) != of_card:
        _refuse(path, "the file is damaged: the checksum of its card does not match")
    return tensors, parse_card(path, text)


def parse_card(path: Path, text: str) -> dict[str, Any]:
    """The card of a file, from its JSON text.

    Raises:
        ValueError: the text is not JSON, or the card lacks what loading needs.
    """
    try:
        card = json.loads(text)
    except (ValueError, RecursionError):
        _refuse(path, "its card is missing or not valid JSON")
    for field, kind in REQUIRED.items():
        if not isinstance(card, dict) or not isinstance(card.get(field), kind):
            _refuse(path, f"its card has no valid {field!r}")
    card["network"] = {RENAMED.get(name, name): value for name, value in card["network"].items()}
    known: dict[str, Any] = card
    return known


def _refuse(path: Path, why: object) -> NoReturn:
    raise ValueError(f"{path} cannot be used as a checkpoint: {why}") from None
