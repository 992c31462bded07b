"""A policy in one file: the tensors of its network and a card that says what it plays. Loading executes nothing."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from fivedice.agents.policies.files import digest, no_checkpoint, write_whole
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


# Settings of a network that cards of version 0.1 call otherwise.
RENAMED = {
    "standard_form": "canonical_form",
    "base": "prior",
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
    """The part of a card that says what a policy plays; the trainer adds how it came about."""
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
    """Write one file, whole or not at all."""
    text = json.dumps(card)
    metadata = {
        "format": FORMAT,
        "card": text,
        "digest": digest(network.tensors),
        "card_digest": hashlib.sha256(text.encode()).hexdigest(),
    }
    write_whole(path, partial(save_file, network.tensors, metadata=metadata))


def read_card(path: Path) -> dict[str, Any]:
    """The card of a checkpoint.

    Raises:
        ValueError: there is no such file, or it is not a checkpoint.
    """
    _, card = _read(path, with_tensors=False)
    return card


def load_checkpoint(path: Path, *, deterministic: bool = True) -> "CheckpointPolicy":
    """A policy from a checkpoint; see `fivedice.agents.load`."""
    tensors, card = _read(path, with_tensors=True)
    try:
        game = load_game(card["game"])
        options = game.make_options(card["num_players"], card["options"])
        layout = game.layout(options)
        if card["game_version"] != game.version:
            raise ValueError(f"it plays version {card['game_version']} of {game.title}; this is version {game.version}")
        if (card["observation_digest"], card["action_digest"]) != (layout.digest, game.action_digest(options)):
            raise ValueError("its observations or actions are laid out differently from this version's")
        net_arch, activation = card["network"].get("net_arch"), card["network"].get("activation")
        if not isinstance(net_arch, list) or not all(type(width) is int for width in net_arch):
            raise ValueError("its card does not give net_arch as a list of widths")
        canonical_form = card["network"].get("canonical_form", False)
        if not isinstance(canonical_form, bool) or (canonical_form and game.canonical is None):
            raise ValueError(f"its card gives canonical_form as {canonical_form!r}, which {game.title} does not have")
        prior, inputs, actions = read_prior(card["network"], game), layout.size, game.num_actions(options)
        if prior and canonical_form:
            raise ValueError("its card gives both canonical_form and a prior, which do not go together")
        num_features = len(prior.feature_names(game)) if prior else 0
        if prior:
            inputs += (1 + num_features) * actions
        residual = prior is not None
        network = Network(tensors, inputs, actions, net_arch, activation, residual=residual, num_features=num_features)
    except (ValueError, TypeError) as error:
        _refuse(path, error)
    return CheckpointPolicy(
        path.stem, game, options, network, canonical_form=canonical_form, prior=prior, deterministic=deterministic
    )


def read_prior(network: Mapping[str, Any], game: Game) -> Prior | None:
    """The prior that the network of a card starts from, if any."""
    name = network.get("prior")
    if name is None:
        return None
    if name not in PRIORS:
        raise ValueError(f"its card gives prior as {name!r}; known are {', '.join(map(repr, PRIORS))}")
    spans = []
    for field in ("prior_span", "prior_keep_span"):
        span = network.get(field, 0.0)
        if type(span) not in (int, float) or not 0 <= span < np.inf:
            raise ValueError(f"its card gives {field} as {span!r}; it must be a number from 0 up")
        spans.append(span)
    span, keep_span = spans
    features = network.get("prior_features", [])
    prior = Prior(PRIORS[name], span, keep_span, features=bool(features))
    prior.check(game)
    if features != prior.feature_names(game):
        raise ValueError(
            f"its card gives prior_features as {features!r}; this version's are {prior.feature_names(game)}"
        )
    return prior


class CheckpointPolicy:
    """A network that plays one game with one set of options and seats.

    Args:
        name: what tables and infos call it.
        game, options: what it plays.
        network: how.
        canonical_form: whether the network is shown canonical forms (`fivedice.envs.core.canonical`).
        prior: the policy of which the network is shown, beside each observation, what it would do; or None.
        deterministic: whether it plays its likeliest action, or samples from its probabilities with `View.uniforms`.
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
        """What kind of network it is and what that is shown, by the names of `TrainConfig`."""
        settings: dict[str, Any] = self.card()["network"]
        return settings

    def card(self) -> dict[str, Any]:
        """The card for its file, `make_card`."""
        network = self.network
        return make_card(self.game, self.options, network.net_arch, network.activation, self.canonical_form, self.prior)

    def check(self, game: Game, options: Options) -> None:
        """Refuse a table of another game, or of other options or seats, with a ValueError."""
        if game is not self.game or options != self.options:
            raise ValueError(f"{self.name} plays {describe(self.game, self.options)}, not {describe(game, options)}")

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64.

        Raises:
            ValueError: the view is of another game, or of other options or seats, or a decision has no legal action.
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


def describe(game: Game, options: Options) -> str:
    """What is played, in words."""
    chosen = ", ".join(f"{name}={value!r}" for name, value in game.options_dict(options).items())
    return f"{game.title} with {options['num_players']} seats ({chosen})"


def _read(path: Path, *, with_tensors: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    if not path.is_file():
        raise ValueError(no_checkpoint(path))
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()} if with_tensors else {}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:
        # The last two come from kinds of numbers that NumPy does not know, such as bfloat16.
        _refuse(path, f"it is not a whole safetensors file of float32 ({error})")
    if metadata.get("format") != FORMAT:
        _refuse(path, f"its format is {metadata.get('format')!r}, not {FORMAT!r}")
    if with_tensors and metadata.get("digest", digest(tensors)) != digest(tensors):
        _refuse(path, "its tensors are not those that were written: it is damaged")
    try:
        card = json.loads(metadata["card"])
    except (KeyError, ValueError, RecursionError):
        _refuse(path, "its card is missing or is not JSON")
    of_card = hashlib.sha256(metadata["card"].encode()).hexdigest()
    if metadata.get("card_digest", of_card) != of_card:
        _refuse(path, "its card is not the one that was written: it is damaged")
    for field, kind in REQUIRED.items():
        if not isinstance(card, dict) or not isinstance(card.get(field), kind):
            _refuse(path, f"its card has no {field}")
    card["network"] = {RENAMED.get(name, name): value for name, value in card["network"].items()}
    return tensors, card


def _refuse(path: Path, why: object) -> NoReturn:
    raise ValueError(f"{path} is not a checkpoint that can be played: {why}") from None
