"""``python -m cardan``: the command line, as ``cardan``."""

from cardan.cli import main

if __name__ == "__main__":
    main()
