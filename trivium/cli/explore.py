"""The command that opens a store in Neo4j Browser."""

from __future__ import annotations

from trivium.cli.options import Json, Store
from trivium.cli.terminal import err, out, print_json, progress, shown


def explore(
    store: Store,
    json: Json = False,
) -> None:
    """Print the address of Neo4j Browser for a store, and open it with a guide of fifteen queries. With --json only
    print.

    Example:  trivium explore --store bolt://localhost:7687
    """
    # Imported here because the driver is slow to load and no other command on a folder needs it.
    from trivium.graph.neo4j.explore import explore as find
    from trivium.graph.neo4j.explore import show

    with progress(quiet=json) as bars:
        found = find(store, lambda done, total: bars("index", done, total))
    if json:
        print_json(
            {
                "browser": found.browser,
                "user": found.user,
                "guide": str(found.guide),
                "style": str(found.style),
            }
        )
        return
    for name, value in (
        ("Neo4j Browser", found.browser),
        ("log in", f"as {found.user} with the server's password (the one in NEO4J_PASSWORD)"),
        ("guide", str(found.guide)),
        ("style", f"{found.style} (drop it on Browser's window)"),
    ):
        out.print(f"[bold]{name:<15}[/]{shown(value)}", soft_wrap=True)
    if not show(found):
        err.print("[dim]there is no web browser to open here: go to the addresses above[/]")
