"""Build wheel and sdist, and try the wheel where nothing else is.

    python scripts/wheel_check.py

The wheel is built from the sdist, installed in an empty environment in a temporary folder, and
used from there as a user would: ``pip check``, a fit, ``immigrate test``, ``immigrate report`` and
``immigrate demo``. Wheel and sdist stay in ``build/dist``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "build" / "dist"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
# What a stranger's first minutes are: the embedded data must have come along with the wheel.
FIRST_MINUTES = """
import immigrate
from immigrate.datasets import load_loans
X, y = load_loans(return_X_y=True)
X.assign(outcome=y).to_csv("loans.csv", index=False)
X = X[["income", "instalment", "purpose", "employment"]]
print(immigrate.__version__, immigrate.__file__)
print("accuracy on the training rows:", immigrate.ImmigrateClassifier().fit(X, y).score(X, y))
"""


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder, without the settings that would let it see the repository."""
    print("$", *(Path(part).name if Path(part).is_absolute() else part for part in command))
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=settings | {"PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    print(*(f"    {line}" for line in done.stdout.splitlines()[-12:]), sep="\n", flush=True)
    if done.returncode:
        raise SystemExit(f"It ended with {done.returncode}; nothing was released.")
    return done.stdout


def environment(folder: Path) -> Path:
    """Programs of a new, empty environment."""
    run(sys.executable, "-m", "venv", folder, folder=folder.parent)
    return folder / SCRIPTS


def built(folder: Path) -> tuple[Path, Path]:
    """Wheel and sdist, checked as the index would check them."""
    programs = environment(folder / "tools")
    run(programs / "pip", "install", "--quiet", "build", "twine", folder=folder)
    shutil.rmtree(DIST, ignore_errors=True)
    run(programs / "python", "-m", "build", "--outdir", DIST, ROOT, folder=folder)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(programs / "python", "-m", "twine", "check", "--strict", wheel, sdist, folder=folder)
    return wheel, sdist


def tried(wheel: Path, folder: Path) -> None:
    """Use the wheel as a stranger would."""
    programs = environment(folder / "user")
    work = folder / "work"
    work.mkdir()
    run(programs / "pip", "install", "--quiet", f"{wheel}[cli]", folder=work)
    run(programs / "pip", "check", folder=work)
    said = run(programs / "python", "-c", FIRST_MINUTES, folder=work)
    if str(ROOT) in said:
        raise SystemExit("The package was imported from the repository and not from the wheel.")
    run(programs / "immigrate", "test", "loans.csv", "--target", "outcome", folder=work)
    run(programs / "immigrate", "report", "loans.csv", "--target", "outcome", folder=work)
    run(programs / "immigrate", "demo", folder=work)
    pages = sorted(file.relative_to(work).as_posix() for file in work.rglob("*.html"))
    if len(pages) < 2:
        raise SystemExit(f"The report and the demo should have left pages, but there are {pages}.")
    print("Pages:", *pages)


def main() -> None:
    """Build, install elsewhere, try."""
    with tempfile.TemporaryDirectory() as name:
        wheel, sdist = built(Path(name))
        tried(wheel, Path(name))
    for file in (wheel, sdist):
        print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
