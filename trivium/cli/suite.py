"""``trivium evaluate --suite``: evaluates several sets of questions, each on its own store."""

from __future__ import annotations

from pathlib import Path

from trivium.cli.arguments import read_settings, selector_name, wrong_argument
from trivium.cli.evaluate_options import Evaluation
from trivium.cli.terminal import err, out, print_json, progress, shown
from trivium.errors import FusionError
from trivium.llm.registry import open_chat_model
from trivium.search.retriever_set import RetrieverSet


def evaluate_suite(options: Evaluation, file: Path) -> None:
    """Evaluate every set of a suite and print the results. The default output folder is ``<name of the file>-results``
    in the working directory.
    """
    why = "a suite file says that set by set: leave {name} out"
    options.refuse_of_one_set(why)
    options.refuse_of_questions(why)
    selector = selector_name(options.selector)
    values = read_settings(options.assignments)
    family, _, name = selector.partition(":")
    model = open_chat_model(name or None) if family == "llm" else None
    with wrong_argument("--retriever"):
        RetrieverSet(values=values).choose(options.retrievers)
    # Imported here because no other command writes pages.
    from trivium.evaluation.suite.definition import read_suite
    from trivium.evaluation.suite.report import print_suite, to_json
    from trivium.evaluation.suite.run import run_suite

    suite = read_suite(file)
    folder = Path(f"{file.stem}-results") if options.folder is None else options.folder
    with progress(quiet=options.json) as bars, wrong_argument("--fusion", (FusionError,)):
        results = run_suite(
            suite,
            folder,
            options.retrievers,
            options.fusions,
            model=model,
            selector=selector,
            settings=values,
            fresh=options.fresh,
            progress=bars,
        )
    if options.json:
        print_json(to_json(results))
        return
    print_suite(results, out)
    err.print(f"[dim]report and pages: {shown(str(folder / 'report.md'))}[/]", soft_wrap=True)
