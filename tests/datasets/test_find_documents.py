"""What documents are called, on a list of pages."""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.datasets import find_documents
from trivium.datasets.find_documents import Documents
from trivium.graph.records import PageRecord


class Listed:
    """Pages by uri, as (path, source)."""

    def __init__(self, **pages: tuple[str, str]) -> None:
        self._pages = [
            PageRecord(uri, source, None, "", path=path) for uri, (path, source) in sorted(pages.items())
        ]
        self.calls = 0

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        self.calls += 1
        return [page for page in self._pages if after is None or page.uri > after][:limit]


def names(**paths: str) -> Documents:
    return Documents(Listed(**{uri: (path, "") for uri, path in paths.items()}))  # type: ignore[arg-type]


def test_a_name_is_the_end_of_a_path_or_a_path_the_end_of_a_name() -> None:
    """Folders are compared whole, and so is the case."""
    known = names(A="handbook/content/company/structure.md", B="handbook/content/sales/_index.md", C="faq.md")
    for name in (
        "structure.md",
        "company/structure.md",
        "./company//structure.md",
        "handbook/content/company/structure.md",
        "/data/handbook/content/company/structure.md",
    ):
        assert known.named(name) == ("A",), name
    assert known.named("docs/faq.md") == ("C",)
    for name in (
        "ructure.md",
        "pany/structure.md",
        "Company/structure.md",
        "other/structure.md",
        "company",
        "",
        "/",
    ):
        assert known.named(name) == (), name


def test_of_several_the_most_exact_are_meant_and_among_equals_all() -> None:
    known = names(A="index.md", B="a/index.md", C="b/a/index.md", D="c/index.md")
    assert known.named("index.md") == ("A",)
    assert known.named("a/index.md") == ("B",)
    assert known.named("x/b/a/index.md") == ("C",)
    assert known.named("x/c/index.md") == ("D",)
    assert known.named("elsewhere/index.md") == ("A",)
    assert names(B="a/index.md", C="b/a/index.md", D="c/index.md").named("index.md") == ("B", "C", "D")


def test_sources_count_where_paths_do_not_tell() -> None:
    """A file given alone has no folder in its path, and what is no file has no path at all."""
    listed = Listed(
        A=("structure.md", "/home/me/company/structure.md"),
        B=("structure.md", "/home/me/legal/structure.md"),
        C=("", "https://example.org/docs/setup.html"),
        D=("", "records:/home/me/faq.jsonl"),
        E=("", "records:/home/me/faq.jsonl"),
        F=("", ""),
    )
    known = Documents(listed)  # type: ignore[arg-type]
    assert known.named("legal/structure.md") == ("B",)
    assert known.named("structure.md") == ("A", "B")
    assert known.named("docs/setup.html") == known.named("https://example.org/docs/setup.html") == ("C",)
    assert known.named("faq.jsonl") == ("D", "E")


def test_names_of_files_may_be_decomposed() -> None:
    decomposed = unicodedata.normalize("NFD", "café/menü.md")
    assert names(A=decomposed).named("café/menü.md") == names(A="café/menü.md").named(decomposed) == ("A",)


def test_a_similar_name_is_suggested() -> None:
    known = names(A="docs/Setup.md", B="docs/install.md", C="other/install.md")
    assert known.similar("docs/setup.md") == "docs/Setup.md"
    assert known.similar("other/instal.md") == "other/install.md"
    assert known.similar("zebra.pdf") is None
    assert known.similar("") is None
    assert names().similar("a.md") is None


def test_in_large_stores_only_so_many_suggestions_are_made() -> None:
    known = names(A="docs/setup.md")
    unknown = [f"setup{i}.md" for i in range(find_documents._MAX_HINTS + 5)]
    assert [known.similar(name) is None for name in unknown].count(False) == find_documents._MAX_HINTS
    assert known.similar(unknown[0]) == "docs/setup.md"


def test_pages_are_listed_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_documents, "_AT_ONCE", 3)
    for count, calls in ((0, 1), (2, 1), (3, 2), (7, 3)):
        listed = Listed(**{f"P{i}": (f"{i}.md", "") for i in range(count)})
        known = Documents(listed)  # type: ignore[arg-type]
        assert [known.named(f"{i}.md") for i in range(count)] == [(f"P{i}",) for i in range(count)]
        assert listed.calls == calls


FOLDERS = st.lists(st.sampled_from(["a", "b", "A"]), max_size=3)


@given(st.lists(FOLDERS, min_size=1, max_size=6), FOLDERS)
def test_any_name_means_documents_whose_paths_end_alike(paths: list[list[str]], name: list[str]) -> None:
    """The oracle compares texts; the document with the very path is always among what its own name means."""
    uris = dict(zip(string.ascii_uppercase, ("/".join([*path, "x.md"]) for path in paths), strict=False))
    wanted = "/".join([*name, "x.md"])
    alike = {
        uri
        for uri, path in uris.items()
        if f"/{path}".endswith(f"/{wanted}") or f"/{wanted}".endswith(f"/{path}")
    }
    found = set(names(**uris).named(wanted))
    assert found <= alike and bool(found) == bool(alike)
    assert found >= {uri for uri, path in uris.items() if path == wanted}
