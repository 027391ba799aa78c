"""Does the package work with every Python and at both ends of its requirements?
`make test-matrix` installs it into empty environments and runs tools/smoke.py there:
with the newest versions for each Python that is found, and with the oldest that
settings.ini allows for the oldest Python."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = "3.11", "3.12", "3.13", "3.14"
WAYS = (), ("-OO",), ("-W", "error::DeprecationWarning:kpw_nb")


def python(version):
    "The command of a Python version: on the path, or one that pyenv has; None if none"
    if found := shutil.which(f"python{version}"):
        run = subprocess.run([found, "-c", ""], capture_output=True)
        if run.returncode == 0:  # pyenv's stand-in is on the path, too, and fails
            return found
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = sorted(home.glob(f"versions/{version}.*/bin/python"))
    return str(kept[-1]) if kept else None


def oldest():
    "Each requirement at its lower bound"
    ini = ConfigParser(delimiters=["="])
    ini.read(ROOT / "settings.ini", encoding="utf-8")
    bounds = re.findall(r"([\w-]+)>=([\d.]+)", ini["DEFAULT"]["requirements"])
    return [f"{name}=={lower}" for name, lower in bounds]


def run(*command, **options):
    "The end of what a command prints, and whether it worked"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=clean, **options
    )
    return (done.stdout + done.stderr).strip().splitlines()[-3:], done.returncode == 0


def attempt(version, pins, folder):
    "(words, worked) of one environment"
    command = python(version)
    if command is None:
        return "not found, left out", True
    own = Path(folder) / "env"
    run(command, "-m", "venv", "--clear", own)
    own = own / ("Scripts" if os.name == "nt" else "bin") / "python"
    lines, worked = run(own, "-m", "pip", "install", "--quiet", ROOT, *pins)
    if not worked:
        return "cannot be installed: " + " ".join(lines), False
    for way in WAYS:
        lines, worked = run(own, *way, ROOT / "tools/smoke.py", cwd=folder)
        if not worked:
            return " ".join([*way, *lines]), False
    return lines[-1], True


def main():
    cases = [(version, "newest", ()) for version in PYTHONS]
    cases += [(PYTHONS[0], "oldest", oldest())]
    failed = 0
    for version, which, pins in cases:
        with tempfile.TemporaryDirectory() as folder:
            words, worked = attempt(version, pins, folder)
        failed += not worked
        print(f"Python {version}, {which} versions: {words}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
