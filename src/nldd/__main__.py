"""``python -m nldd``: the command line, where the command itself is not on the path."""

from nldd.cli import main

if __name__ == "__main__":
    main()
