"""The connection to Ray: one that is started on this machine, or a cluster that runs already."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Read by Ray when it is imported. The first setting keeps a Ray that is started here on the loopback interface: without
# clusters, Ray uses the address 127.0.0.1 for all that it starts.
LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TRAIN_V2_ENABLED": "1"}
LOCAL = "local"


@contextmanager
def connected(address: str, cores: int) -> Iterator[None]:
    """Connect to Ray until the block ends.

    Args:
        address: ``"local"`` starts Ray on this machine: it listens on loopback only, and ends with the block. Else the
            address of a cluster, HOST:PORT, or ``"auto"`` for the cluster of which this machine is a node.
        cores: the number of processes that a local Ray may start at the same time. A cluster has its own numbers.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        ValueError: the address cannot be used.
        ConnectionError: there is no cluster.
    """
    if "://" in address:
        raise ValueError(
            f"--ray={address!r} would be a Ray client, which cannot train; run the same command on a node of the "
            "cluster, for example by: ray job submit, with --ray auto"
        )
    os.environ.update(SETTINGS)
    if address == LOCAL:
        os.environ[LOOPBACK] = "0"
    import ray

    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == LOCAL:
            ray.init(address=LOCAL, num_cpus=cores, include_dashboard=False, _node_ip_address="127.0.0.1", **quiet)
            if ray.util.get_node_ip_address() != "127.0.0.1":
                ray.shutdown()
                raise ValueError(f"Ray was imported before {LOOPBACK}=0 was set, so it would not stay on loopback")
        else:
            ray.init(address=address, **quiet)
    except ConnectionError as error:
        raise ConnectionError(
            f"--ray={address!r}: no Ray cluster answers there ({str(error).splitlines()[0]}); "
            "start one by: ray start --head, or use --ray local"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def count_cluster_cores() -> int:
    """The number of cores of the cluster as it is now."""
    import ray

    return int(ray.cluster_resources().get("CPU", 0))
