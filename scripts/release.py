"""Check that a release can be made: ``python scripts/release.py``. Nothing is tagged or uploaded.

In this order, and it stops at the first that fails:

1. the files agree: version, changelog and citation name one version and one date;
2. nothing is left to commit;
3. ``make lint``, ``make test`` and ``make docs`` pass;
4. wheel and sdist are built, their metadata hold, and the wheel works in an empty environment.

``--only files`` does the first alone.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## \[(\d[^]]*)\] - (\d{4}-\d{2}-\d{2})$", flags=re.MULTILINE)


class NotReadyError(Exception):
    """Why there can be no release yet."""


def version() -> str:
    """The version of the package."""
    text = (ROOT / "src" / "immigrate" / "_version.py").read_text(encoding="utf-8")
    return re.findall(r'__version__ = "(.+)"', text)[0]


def released(changelog: str) -> tuple[str, str]:
    """Version and date of the newest release in the changelog."""
    found = HEADING.search(changelog)
    if found is None:
        raise NotReadyError("CHANGELOG.md has no heading such as '## [0.1.0] - 2026-11-18'.")
    return found.group(1), found.group(2)


def cited(citation: str) -> tuple[str, str]:
    """Version and date in CITATION.cff."""
    found = dict(re.findall(r"^(version|date-released): (\S+)$", citation, flags=re.MULTILINE))
    return found.get("version", "none"), found.get("date-released", "none")


def check_files() -> None:
    """The package, the changelog and the citation name one version and one date."""
    logged = released((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    named = cited((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    if logged != named:
        raise NotReadyError(f"CHANGELOG.md says {logged}, but CITATION.cff says {named}.")
    if logged[0] != version():
        raise NotReadyError(f"The package is {version()}, but CHANGELOG.md ends at {logged[0]}.")


def check_tree() -> None:
    """Nothing is left to commit, and the version is not tagged yet."""
    if left := _said("git", "status", "--porcelain"):
        raise NotReadyError(f"These files are not committed:\n{left}")
    if _said("git", "tag", "--list", f"v{version()}"):
        raise NotReadyError(f"v{version()} is tagged already; give the next one another version.")


def check_builds() -> None:
    """Linters, tests, site, wheel and sdist."""
    for target in ("lint", "test", "docs", "wheel-check"):
        print(f"$ make {target}", flush=True)
        if subprocess.run(["make", target], cwd=ROOT, check=False).returncode:
            raise NotReadyError(f"`make {target}` failed.")


def _said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    """Run the checks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["files"], help="do the first check alone")
    only = parser.parse_args().only
    try:
        for check in (check_files,) if only else (check_files, check_tree, check_builds):
            check()
    except NotReadyError as reason:
        sys.exit(f"Not ready: {reason}")
    if only:
        print(f"Package, changelog and citation agree on {version()}.")
        return
    print(f"immigrate {version()} is ready. The next steps are yours:")
    print(f"  git tag -a v{version()} -m 'immigrate {version()}' && git push --tags")
    print("  twine upload build/dist/*")


if __name__ == "__main__":
    main()
