"""`python -m aiecc` is `aiecc`."""

from aiecc.cli.main import main

if __name__ == "__main__":
    main()
