"""Train PPO by self-play: ``python train.py --config configs/yum.toml``. The same as ``fivedice train``."""

import sys

from fivedice.agents.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["train"]
    main()
