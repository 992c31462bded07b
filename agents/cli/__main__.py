"""``python -m fivedice.agents.cli`` is the command ``fivedice``."""

from fivedice.agents.cli import main

if __name__ == "__main__":
    main()
