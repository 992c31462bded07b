"""The settings of a training run. A setting of Stable-Baselines3 has the same name here."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from fivedice.agents.policies.baselines import GREEDY
from fivedice.agents.policies.prior import PRIORS, Prior, make_prior
from fivedice.envs import load_game
from fivedice.envs.core.option import Value


def _whole(_: object, tokens: Sequence[Token]) -> int:
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value!r} is not a whole number") from None


def whole(*, least: int, most: int | None = None) -> Parameter:
    """A command-line parameter that is a whole number from `least` to `most`. Cyclopts alone would read 4.5 as 4."""
    return Parameter(validator=Number(gte=least, lte=most), converter=_whole)


def _whole_or_auto(kind: object, tokens: Sequence[Token]) -> int | str:
    try:
        return AUTO if tokens[0].value == AUTO else _whole(kind, tokens)
    except ValueError as error:
        raise ValueError(f"{error} or {AUTO}") from None


def _check_workers(kind: Any, value: int | str) -> None:
    if value != AUTO:
        Number(gte=1, lte=1024)(kind, value)


AUTO = "auto"  # the number of workers depends on the cores of the machine
Positive = Annotated[int, whole(least=1)]
Weight = Annotated[float, Parameter(validator=Number(gte=0))]
Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


CONFIG = "config.json"  # the settings, in the folder of a run
GREEDY_WEIGHT = 0.2  # the default of `Mix.greedy`, in games with a greedy policy
OWN_WEIGHT = 0.2  # the default of `Mix.own`, if there are own policies


@dataclass(kw_only=True)
class Mix:
    """How often each kind of opponent is drawn for a seat. Weights need not sum to 1."""

    current: Weight = 0.4
    """The newest snapshot of the learner."""
    recent: Weight = 0.0
    """One of the newest three snapshots, all equally likely."""
    past: Weight = 0.3
    """Any snapshot in the pool, all equally likely."""
    hard: Weight = 0.0
    """Any snapshot in the pool, with probability proportional to the squared loss rate against it (recent games)."""
    random: Weight = 0.1
    """Plays a random legal action, all equally likely."""
    greedy: Weight | None = None
    """Maximises the points of its turn; see the page of each game. Default: 0.2; 0 if the game has no such policy."""
    planner: Weight = 0.0
    """Looks beyond its turn, without learning; only for games that have a planner."""
    optimal: Weight = 0.0
    """Plays optimally; only for games that are solved."""
    own: Weight | None = None
    """One of own_policies, all equally likely. Default: 0.2; 0 if there are none."""
    own_policies: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())] = ()
    """Further policies: checkpoint files, rollouts, or policies of your own as module:attribute, which are imported."""
    floor: Share = 0.0
    """All of these policies but the snapshots together get at least this share of the seats, whatever the weights."""

    def weights(self) -> dict[str, float]:
        """The weight of each kind of opponent, and ``floor``."""
        weights = {name: weight for name, weight in vars(self).items() if name != "own_policies"}
        own = (OWN_WEIGHT if self.own_policies else 0.0) if self.own is None else self.own
        return weights | {"own": own, "greedy": self.greedy or 0.0}


@dataclass(kw_only=True)
class TrainConfig:
    """Train PPO by self-play."""

    game: str = "yum"
    """The game, for example yum; `fivedice list` names the games."""
    num_players: Annotated[int | None, whole(least=1)] = None
    """Number of players. Default: the default of the game."""
    options: dict[str, Value] = field(default_factory=dict)
    """The options of the game by name, for example --options.zeros free; `fivedice list` names them."""
    reward: Literal["win", "score", "margin"] | None = None
    """win (+1 / -1 at the end), score (own points), margin (own minus others' mean). Default: win; score if alone."""
    reward_scale: Annotated[float, Parameter(validator=Number(gt=0))] = 1.0
    """Every reward is multiplied by this before the learner sees it."""
    margin_coef: Weight = 0.0
    """Extra reward (shaping) at the start, per point gained on the others; it changes linearly to margin_coef_end."""
    margin_coef_end: Weight = 0.0
    """Extra reward (shaping) at the end."""
    canonical_form: bool = True
    """Give equivalent positions the same observation, in games that have a canonical form; not with a prior policy."""
    prior: Literal["greedy", "planner"] | None = None
    """A prior policy: the learner sees its action, starts as it, and learns where to differ from it."""
    prior_logit: Weight = 4.0
    """Initial logit of the prior's action, against 0 for all others; with 4 it is taken about two times in three."""
    prior_span: Weight = 0.0
    """Also show actions with a prior value of at most this many points below the best one; 0 shows only the best."""
    prior_keep_span: Weight = 0.0
    """Replaces prior_span for actions that keep dice, because their prior values are more exact; 0 means prior_span."""
    prior_features: bool = False
    """Also show the action features of the prior; the network uses one weight per feature for all actions."""
    features_only: bool = False
    """Train only the feature weights, not one logit per action (too noisy when there are many actions)."""
    start: Path | None = None
    """A checkpoint of the same game and network to start with; only the last layer of its value network is new."""
    value_steps: Annotated[int, whole(least=0)] = 0
    """Train only the value network for this many decisions first: its early errors would damage a loaded policy."""
    opponents: Mix = field(default_factory=Mix)
    """How often each kind of opponent is drawn for a seat."""

    total_timesteps: Positive = 2_000_000
    """Decisions of the learner in the whole run."""
    n_envs: Positive = 256
    """Number of games that are played in parallel."""
    n_steps: Positive = 32
    """Decisions in each game per update."""
    batch_size: Annotated[int, whole(least=2)] = 2048
    """Decisions in a minibatch."""
    n_epochs: Positive = 4
    """Passes over the decisions at each update."""
    learning_rate: Annotated[float, Parameter(validator=Number(gt=0))] = 1e-3
    """Adam's learning rate at the start; it changes linearly to learning_rate_end."""
    learning_rate_end: Weight = 0.0
    """Adam's learning rate at the end."""
    gamma: Share = 1.0
    """Discount factor per decision. Games are short; with 1 a point has the same value at any time."""
    gae_lambda: Share = 0.5
    """The lambda of generalised advantage estimation: 0 trusts the value network, 1 the rewards."""
    clip_range: Share = 0.2
    """PPO's clip range: how far an update may change the probability of an action, as a share of it."""
    ent_coef: Weight = 0.01
    """Weight of the entropy bonus at the start; it changes linearly to ent_coef_end."""
    ent_coef_end: Weight = 0.0
    """Weight of the entropy bonus at the end."""
    vf_coef: Weight = 0.5
    """Weight of the value loss."""
    max_grad_norm: Annotated[float, Parameter(validator=Number(gt=0))] = 0.5
    """Longer gradients are scaled down to this norm."""
    target_kl: Annotated[float | None, Parameter(validator=Number(gt=0))] = None
    """Stop an update early when the KL divergence from the old policy is above 1.5 times this. Default: never."""
    net_arch: Annotated[tuple[Positive, ...], Parameter(consume_multiple=True, negative=())] = (128, 128)
    """Widths of the hidden layers. Policy and value network have layers of their own."""
    activation: Literal["tanh", "relu"] = "tanh"
    """Activation function of the hidden layers."""

    snapshot_every: Positive = 100_000
    """Decisions between two snapshots; a snapshot is a copy of the learner that plays as an opponent."""
    pool_size: Annotated[int, whole(least=2)] = 10
    """How many snapshots are kept as opponents."""
    eval_every: Positive = 250_000
    """Decisions between two evaluations; each one saves the run, too."""
    eval_games: Positive = 1000
    """Games of an evaluation against each baseline, seats rotated."""
    check_games: Positive = 300
    """Games of a new best checkpoint against each of the last two and, if the game is solved, optimal play."""
    final_games: Positive = 4000
    """Games of each pairing in the final table, seats rotated."""

    seed: Annotated[int, whole(least=0, most=2**31)] = 1
    """Random seed for games, network initialisation and minibatches. Evaluations use other seeds."""
    device: str = "cpu"
    """The device on which the network is trained: cpu, cuda, or another device of torch."""
    workers: Annotated[int | Literal["auto"], Parameter(converter=_whole_or_auto, validator=_check_workers)] = "auto"
    """Processes that share the games and each minibatch. auto: one for each core, if games and minibatches suffice."""
    torch_threads: Annotated[int, whole(least=0)] = 1
    """Threads of each worker for torch and NumPy; 0 leaves the number to them. One is fastest for small networks."""
    runs: Path = Path("runs")
    """The folder in which runs are stored."""
    name: str | None = None
    """The name of the run's folder in runs. Default: the name of the game, with a number if that folder exists."""

    def __post_init__(self) -> None:
        try:
            game = load_game(self.game)
        except ValueError:
            return  # `validate` says why
        self.options = game.parse_options(self.options)
        if self.opponents.greedy is None:
            self.opponents = replace(self.opponents, greedy=GREEDY_WEIGHT if GREEDY.plays(game) else 0.0)

    def make_prior(self) -> Prior | None:
        """The prior policy with its settings, or None."""
        policy = PRIORS[self.prior] if self.prior else None
        return make_prior(policy, self.prior_span, self.prior_keep_span, self.prior_features)

    def network_settings(self) -> dict[str, Any]:
        """The settings that the networks of a run and of its snapshots share; see `CheckpointPolicy.settings`."""
        prior, game = self.make_prior(), load_game(self.game)
        return {
            "net_arch": list(self.net_arch),
            "activation": self.activation,
            "canonical_form": self.canonical_form and game.canonical is not None and prior is None,
            "prior": self.prior,
            "prior_span": prior.span if prior else 0.0,
            "prior_keep_span": prior.keep_span if prior else 0.0,
            "prior_features": prior.feature_names(game) if prior else [],
        }
