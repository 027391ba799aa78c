"The command `kpw-nb`, also as `python -m kpw_nb`: a Ctrl-C while it loads is no crash"

import sys


def main():
    "Load the commands, and run one; the exit code"
    try:
        from .show.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("kpw-nb: stopped; nothing was written", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
