"""Runs every benchmark on the bundled sample: ``make bench``.

Larger inputs give more meaningful figures; see the ``--help`` of each script.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from experiments import command
from trivium.sample import pages_folder, question_files

HERE = Path(__file__).parent


def main() -> None:
    """Run the benchmarks one after the other, each in its own process."""
    command.Parser(__doc__, takes="a few minutes").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        questions = str(question_files()[0])
        build = ["-m", "trivium", "build", str(pages_folder()), "--store", store]
        for title, arguments in (
            ("Parsing against BeautifulSoup", [_script("parse_vs_beautifulsoup"), str(pages_folder())]),
            ("Diffusion against NetworkX", [_script("diffusion_vs_networkx")]),
            ("Walk against power iteration", [_script("walk")]),
            ("Building the sample", build),
            ("Searching the sample", [_script("search_latency"), "--store", store, "--questions", questions]),
            ("Beside what was committed", [_script("ratios"), "--store", store, "--questions", questions]),
        ):
            print(f"\n== {title}", flush=True)
            subprocess.run([sys.executable, *arguments], check=True)


def _script(name: str) -> str:
    return str(HERE / f"{name}.py")


if __name__ == "__main__":
    command.run(main)
