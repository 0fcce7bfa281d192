"""`python -m paper data | run | tables | figures | export`."""

from paper.cli import main

if __name__ == "__main__":
    main()
