"""Entry point of ``python -m cardan``, which does what the command ``cardan`` does."""

from cardan.cli import main

if __name__ == "__main__":
    main()
