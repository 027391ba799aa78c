"""The two scripts that show widgets on a page without a kernel. They come from npm
when it is there and answers; without them pages show the static output. They are
kept in docs/_static/vendor, which git ignores."""

import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

FILES = {
    "require.js": ("requirejs@2.3.8", r"package/require\.js"),
    "embed-amd.js": (
        "@jupyter-widgets/html-manager@1.0.15",
        r"package/dist/(embed-amd\.js|\w+\.woff2)",
    ),
}  # and its icons


def fetch(folder, timeout=60):
    "True if both files are there; never an error"
    if all((folder / name).exists() for name in FILES):
        return True
    npm = shutil.which("npm")
    if npm is None:
        return False
    with tempfile.TemporaryDirectory() as temporary:
        got = {}
        for package, wanted in FILES.values():
            try:
                run = subprocess.run(
                    [npm, "pack", "--silent", package],
                    cwd=temporary,
                    capture_output=True,
                    text=True,
                    timeout=timeout,
                    check=True,
                )
                with tarfile.open(Path(temporary) / run.stdout.split()[-1]) as tar:
                    got |= {
                        Path(m.name).name: tar.extractfile(m).read()
                        for m in tar.getmembers()
                        if re.fullmatch(wanted, m.name)
                    }
            except (subprocess.SubprocessError, OSError, IndexError, tarfile.TarError):
                return False
        if not FILES.keys() <= got.keys():
            return False
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in got.items():
            (folder / name).write_bytes(data)
    return True
