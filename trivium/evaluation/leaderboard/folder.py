"""Reads, prints and writes the leaderboard of a folder of TREC runs."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from trivium.common.files import write_file
from trivium.errors import InputError
from trivium.evaluation.fitted_table import FittedTable
from trivium.evaluation.leaderboard.page import leaderboard_page, sets_note, sets_page
from trivium.evaluation.leaderboard.ranking import Leaderboard, Place, rank_runs
from trivium.evaluation.leaderboard.sets import SetRuns, SetsLeaderboard, rank_sets
from trivium.evaluation.matches import print_matches
from trivium.evaluation.run_files import read_runs
from trivium.evaluation.significance import LEVEL
from trivium.evaluation.tables import BETTER, WORSE, chance, share
from trivium.evaluation.trec import read_qrels

ENDINGS = (".run", ".trec")
"""File name endings of runs."""
QRELS = "qrels.txt"


def read_leaderboard(
    folder: str | Path,
    qrels: str | Path | None = None,
    by: str | None = None,
    baseline: str | None = None,
) -> Leaderboard:
    """Read the leaderboard of all runs in a folder (:data:`ENDINGS`), against the judgements ``qrels`` (by default
    ``qrels.txt`` in the folder); see :func:`~trivium.evaluation.leaderboard.ranking.rank_runs`. Raises InputError for
    files that are missing or do not match.
    """
    folder = Path(folder)
    files = _runs_in(folder)
    if not files:
        raise InputError(
            f"{folder}: expected a folder with TREC runs ({', '.join(ENDINGS)}), or with such folders, got none"
        )
    gold = read_qrels(folder / QRELS if qrels is None else qrels)
    return rank_runs(read_runs(files, gold), gold, by, baseline)


def read_sets(
    folder: str | Path, by: str | None = None, baseline: str | None = None
) -> SetsLeaderboard | None:
    """Read the leaderboards of a folder of sets, as written by a suite: of its subfolders that contain runs, each
    with its own judgements ``qrels.txt`` (:func:`~trivium.evaluation.leaderboard.sets.rank_sets`). None if the folder
    contains runs itself, or no subfolder does. Raises InputError.
    """
    folder = Path(folder)
    if _runs_in(folder):
        return None
    found: dict[str, SetRuns] = {}
    for own in sorted(path for path in folder.glob("*") if path.is_dir()):
        files = _runs_in(own)
        if files:
            gold = read_qrels(own / QRELS)
            found[own.name] = read_runs(files, gold), gold
    return rank_sets(found, by, baseline) if found else None


def write_leaderboard(found: Leaderboard | SetsLeaderboard, target: str | Path) -> Path:
    """Write the page of a leaderboard and return its path. Raises InputError if it cannot be written."""
    page = sets_page(found) if isinstance(found, SetsLeaderboard) else leaderboard_page(found)
    write_file(Path(target), page)
    return Path(target)


def print_sets(found: SetsLeaderboard, console: Console) -> None:
    """Print the leaderboard of each set, and the means over them."""
    for name, board in found.sets.items():
        console.print(Text(name, style="bold"))
        print_leaderboard(board, console)
        console.print()
    table = FittedTable(["", "run", f"mean {found.measure}", *found.sets], keys=2)
    for rank, place in enumerate(found.places, start=1):
        own = [f"{share(each.means[found.measure])} {each.mark or ' '}" for each in place.by_set.values()]
        table.add_row(*map(Text, (str(rank), place.name, share(place.means[found.measure]), *own)))
    console.print(table)
    console.print(Text(sets_note(found)))


def print_leaderboard(found: Leaderboard, console: Console) -> None:
    """Print the runs, best first, their differences to the baseline, and the CMC."""
    # Names come from files: use Text, never markup.
    table = FittedTable(["", "run", found.measure, "95 %", "difference (95 %)", "p", "p (Holm)"], keys=2)
    for rank, place in enumerate(found.places, start=1):
        interval = f"{share(place.interval.low)}-{share(place.interval.high)}"
        cells = [str(rank), place.name, share(place.interval.mean), interval, *_against(place)]
        table.add_row(*map(Text, cells))
    console.print(table)
    print_matches(
        {place.name: place.matches for place in found.places},
        {place.name: place.means for place in found.places},
        console,
    )
    chosen = ", the best on these same questions" if found.hindsight else ""
    hint = " (so few that they are only a hint)" if found.only_a_hint else ""
    console.print(
        Text(
            f"{found.questions:,} questions; differences to {found.baseline}{chosen}; intervals and tests resample "
            f"{found.clusters:,} {found.resampled}{hint}; {BETTER} {WORSE}: p < {LEVEL:g} after Holm's correction."
        )
    )


def _runs_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix in ENDINGS and path.is_file())


def _against(place: Place) -> tuple[str, str, str]:
    if place.against is None or place.p_holm is None:
        return "baseline", "", ""
    d = place.against.difference
    return (
        f"{d.mean:+.3f} ({d.low:+.3f} to {d.high:+.3f})",
        chance(place.against.p),
        f"{chance(place.p_holm)} {place.mark or ' '}",
    )
