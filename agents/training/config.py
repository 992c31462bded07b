"""What can be set in a training run. The names are Stable-Baselines3's where it has one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from fivedice.agents.policies.prior import PRIORS, Prior, make_prior
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.option import Value


def _whole(_: object, tokens: Sequence[Token]) -> int:
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value!r} is not a whole number") from None


def whole(*, least: int, most: int | None = None) -> Parameter:
    """A whole number from `least` up to `most`. Cyclopts itself would take 4.5 for 4."""
    return Parameter(validator=Number(gte=least, lte=most), converter=_whole)


Positive = Annotated[int, whole(least=1)]
Weight = Annotated[float, Parameter(validator=Number(gte=0))]
Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


CONFIG = "config.json"  # in a run's folder: its settings


@dataclass(kw_only=True)
class Mix:
    """How often a seat is dealt each kind of opponent; weights that need not sum to 1."""

    current: Weight = 0.4
    """The newest snapshot of the learner."""
    recent: Weight = 0.0
    """One of the newest three, all equally likely."""
    past: Weight = 0.3
    """Any snapshot in the pool, all equally likely."""
    hard: Weight = 0.0
    """Any snapshot in the pool, by the square of the learner's share of losses to it lately."""
    random: Weight = 0.1
    """Any legal action, all equally likely."""
    greedy: Weight = 0.2
    """Makes the most of its turn; the page of each game tells how."""
    optimal: Weight = 0.0
    """Exact play, where the game is solved."""
    floor: Share = 0.0
    """The least share of all seats that random, greedy and optimal are dealt together, whatever the weights."""


@dataclass(kw_only=True)
class TrainConfig:
    """Train PPO by self-play."""

    game: str = "yum"
    """What is played; `fivedice list` names the games."""
    num_players: Annotated[int | None, whole(least=1)] = None
    """Seats at the table; the game's default if not given."""
    options: dict[str, Value] = field(default_factory=dict)
    """The game's options by name, as --options.zeros free; `fivedice list` names them."""
    reward: Literal["win", "score", "margin"] | None = None
    """win (+1 and -1 at the end), score (points as scored) or margin (own less others'); win, or score alone."""
    reward_scale: Annotated[float, Parameter(validator=Number(gt=0))] = 1.0
    """What a reward is multiplied with before the learner sees it."""
    margin_coef: Weight = 0.0
    """At the start, a reward on top for each point of lead gained; it goes in a straight line to margin_coef_end."""
    margin_coef_end: Weight = 0.0
    """The reward on top at the end."""
    canonical_form: bool = True
    """Show positions that come to the same as one, in games that have a canonical form and without a prior."""
    prior: Literal["greedy"] | None = None
    """A policy to start from: the learner sees what it would do, and learns where to differ from it."""
    prior_logit: Weight = 4.0
    """The logit of its action at the start, against 0 for all others; with 4 it is followed two times in three."""
    prior_span: Weight = 0.0
    """How many points an action may be behind the best in the eyes of the prior to be shown, too; 0: the best alone."""
    prior_keep_span: Weight = 0.0
    """The same for sets of dice to keep, of which the prior knows most; prior_span, if 0."""
    prior_features: bool = False
    """Show what each of these actions leaves behind, too, and learn one weight of it for all of them."""
    features_only: bool = False
    """Learn the weights of the features alone, and no logits of the actions' own, which many actions make noisy."""
    start: Path | None = None
    """A checkpoint of the same game and network to begin from, as from points to wins; only its value output is new."""
    value_steps: Annotated[int, whole(least=0)] = 0
    """Decisions at the beginning by which only the value network learns, lest wrong values spoil a start."""
    opponents: Mix = field(default_factory=Mix)
    """How often each kind of opponent is dealt to a seat."""

    total_timesteps: Positive = 2_000_000
    """Decisions of the learner in the whole run."""
    n_envs: Positive = 256
    """Games played side by side."""
    n_steps: Positive = 32
    """Decisions in each game between two updates."""
    batch_size: Annotated[int, whole(least=2)] = 2048
    """Decisions in a minibatch."""
    n_epochs: Positive = 4
    """Passes over the decisions at each update."""
    learning_rate: Annotated[float, Parameter(validator=Number(gt=0))] = 1e-3
    """Adam's step size at the start; it falls in a straight line to learning_rate_end."""
    learning_rate_end: Weight = 0.0
    """Adam's step size at the end."""
    gamma: Share = 1.0
    """Discount for each of the learner's decisions. Games are short: 1 values a point the same at any time."""
    gae_lambda: Share = 0.5
    """How far advantages look ahead before they trust the value network."""
    clip_range: Share = 0.2
    """How far an update may move the probability of an action, as a share of it."""
    ent_coef: Weight = 0.01
    """The weight of entropy at the start; it falls in a straight line to ent_coef_end."""
    ent_coef_end: Weight = 0.0
    """The weight of entropy at the end."""
    vf_coef: Weight = 0.5
    """The weight of the value loss."""
    max_grad_norm: Annotated[float, Parameter(validator=Number(gt=0))] = 0.5
    """The longest gradient that is applied as it is."""
    target_kl: Annotated[float | None, Parameter(validator=Number(gt=0))] = None
    """Stop an update early when it has moved the policy 1.5 times this far; never, if not given."""
    net_arch: Annotated[tuple[Positive, ...], Parameter(consume_multiple=True, negative=())] = (128, 128)
    """The widths of the hidden layers, the same for policy and value, which share none."""
    activation: Literal["tanh", "relu"] = "tanh"
    """What follows each hidden layer."""

    snapshot_every: Positive = 100_000
    """Take a snapshot of the learner as an opponent after this many decisions."""
    pool_size: Annotated[int, whole(least=2)] = 10
    """How many snapshots to keep as opponents."""
    eval_every: Positive = 250_000
    """Play evaluation games, and save, after this many decisions."""
    eval_games: Positive = 1000
    """Games of each of these evaluations against each baseline, seats rotated."""
    check_games: Positive = 300
    """Games of a new best against each of the last two and, where the game is solved, against exact play."""
    final_games: Positive = 4000
    """Games of each pairing in the table at the end, seats rotated."""

    seed: Annotated[int, whole(least=0, most=2**31)] = 1
    """Of games, network and minibatches. Evaluations use seeds of their own."""
    device: str = "cpu"
    """Where the network is trained: cpu, cuda, or what else torch knows."""
    torch_threads: Annotated[int, whole(least=0)] = 1
    """Threads that torch and NumPy may use; 0 leaves it to them. For networks of this size one is the fastest."""
    runs: Path = Path("runs")
    """The folder for runs."""
    name: str | None = None
    """The run's folder in runs; the game's name, with a number if it is taken, if not given."""

    def __post_init__(self) -> None:
        if self.game in GAMES:  # any other is refused when the run starts
            self.options = load_game(self.game).parse_options(self.options)

    def make_prior(self) -> Prior | None:
        """What the learner starts from, if anything."""
        policy = PRIORS[self.prior] if self.prior else None
        return make_prior(policy, self.prior_span, self.prior_keep_span, self.prior_features)

    def network_settings(self) -> dict[str, Any]:
        """What the networks of a run, its snapshots and its start have in common; see `CheckpointPolicy.settings`."""
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
