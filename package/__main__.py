"""``python -m fivedice`` is the command ``fivedice``."""

from fivedice.agents.cli import main

if __name__ == "__main__":
    main()
