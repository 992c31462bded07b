"""Settings of torch, NumPy and Python that a run changes. They are restored afterwards."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch.distributions import Distribution


@contextmanager
def library_settings(torch_threads: int) -> Iterator[None]:
    """Limit the threads of torch and of NumPy (which computes the opponents' networks); 0 leaves them as they are.

    Meanwhile torch does not validate distributions, because the sum of masked float32 probabilities may differ from 1
    by more than its tolerance.
    """
    threads, validates = torch.get_num_threads(), Distribution._validate_args
    Distribution.set_default_validate_args(False)
    if torch_threads:
        torch.set_num_threads(torch_threads)
    try:
        with threadpool_limits(torch_threads, user_api="blas") if torch_threads else nullcontext():
            yield
    finally:
        torch.set_num_threads(threads)
        Distribution.set_default_validate_args(validates)


@contextmanager
def global_generators_restored() -> Iterator[None]:
    """Restore the global random generators afterwards. Stable-Baselines3 seeds and uses them."""
    of_python, of_torch = random.getstate(), torch.get_rng_state()
    of_numpy = np.random.get_state()  # noqa: NPY002  # the global generator is what is restored
    try:
        yield
    finally:
        random.setstate(of_python)
        torch.set_rng_state(of_torch)
        np.random.set_state(of_numpy)  # noqa: NPY002  # as above
