"""``python -m denv`` is the command ``denv``."""

from denv.cli import main

if __name__ == "__main__":
    main()
