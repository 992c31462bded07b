"""What a policy is: whoever decides, batched. Random, greedy, exact, checkpoint and human are the same kind of thing."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.view import View


class Policy(Protocol):
    """Decides for every row of a view at once."""

    name: str

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each of the N decisions of `view`, (N,) int64.

        The same view always gives the same actions: what is random in a policy comes from ``view.noise``.

        Raises:
            ValueError: the policy cannot play this game, or not with these options or seats.
        """
