"""The text that is searched for: a question without instructions for its answer, and with the lines of reports that the
figures of financial analysis are calculated from.

A question about a company's quick ratio is answered by its balance sheet, which contains neither word, so that no
retriever finds it. Only figures that reports do not state are listed: where a report says "gross margin" or "EBITDA",
its own words find it better (experiments/fusion). Nor are abbreviations that mean something else in other documents
(a DPO protects data, PPE protects people).
"""

from __future__ import annotations

import re

from trivium.text.normalise import sentences

_INCOME = "statement of income"
_CASH = "statement of cash flows"
_FIGURES = {
    (
        "quick ratio",
        "acid-test ratio",
    ): "balance sheet: cash, receivables, inventories, total current assets, total current liabilities",
    ("working capital", "current ratio"): "balance sheet: total current assets, total current liabilities",
    ("debt-to-equity", "debt to equity"): "balance sheet: short-term debt, long-term debt, total equity",
    ("interest coverage",): f"{_INCOME}: operating income, interest expense",
    ("return on assets", "ROA"): f"{_INCOME}: net income; balance sheet: total assets",
    ("return on equity", "ROE"): f"{_INCOME}: net income; balance sheet: total equity",
    ("payout ratio", "retention ratio"): f"{_CASH}: dividends paid; {_INCOME}: net income",
    ("inventory turnover",): f"balance sheet: inventories; {_INCOME}: cost of sales",
    ("asset turnover",): f"{_INCOME}: revenue; balance sheet: total assets",
    ("fixed asset turnover",): f"{_INCOME}: revenue; balance sheet: property, plant and equipment",
    ("receivables turnover",): f"{_INCOME}: revenue; balance sheet: accounts receivable",
    ("days payable outstanding",): f"balance sheet: accounts payable, inventories; {_INCOME}: cost of sales",
    ("days sales outstanding",): f"balance sheet: accounts receivable; {_INCOME}: revenue",
    ("days inventory outstanding",): f"balance sheet: inventories; {_INCOME}: cost of sales",
    ("cash conversion cycle",): "balance sheet: inventories, accounts receivable, accounts payable;"
    f" {_INCOME}: revenue, cost of sales",
    (
        "capital-intensive",
        "capital intensive",
    ): f"balance sheet: property, plant and equipment, total assets; {_CASH}: capital expenditures; {_INCOME}: revenue",
    ("PP&E", "PPNE"): "property, plant and equipment, net",
    ("COGS",): "cost of goods sold, cost of sales, cost of revenue",
    ("SG&A",): "selling, general and administrative expenses",
    ("D&A",): "depreciation and amortization",
    ("income statement", "P&L"): "consolidated statements of income, operations, earnings",
    ("cash flow statement",): "consolidated statements of cash flows",
    ("statement of financial position",): "consolidated balance sheets",
}
_MEANINGS = {name.lower(): meaning for names, meaning in _FIGURES.items() for name in names}


def _pattern(name: str) -> str:
    # "roe" and "cogs" are words.
    return re.escape(name) if name.isupper() else f"(?i:{re.escape(name)})"


_NAMED = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(_pattern, sorted(sum(_FIGURES, ()), key=len, reverse=True)))})(?!\w)"
)
_INSTRUCTION = re.compile(r"(?:please )?(?:round|answer|reply|respond)\b[^?]*", re.IGNORECASE)


def searched_text(question: str) -> str:
    """Return what to search for: a question without sentences that say how to answer it, and with the statement and the
    lines of a report behind each figure of financial analysis, once.

    >>> searched_text("Did the PP&E of Pfizer grow? Answer in one sentence.")
    'Did the PP&E (property, plant and equipment, net) of Pfizer grow?'
    """
    return _with_lines(_without_instructions(question))


def _without_instructions(question: str) -> str:
    if "?" not in question:
        return question
    spans = sentences(question)
    kept = [
        question[start:end] for start, end in spans if _INSTRUCTION.fullmatch(question, start, end) is None
    ]
    return " ".join(kept) if len(kept) < len(spans) else question


def _with_lines(question: str) -> str:
    told: set[str] = set()

    def insert(found: re.Match[str]) -> str:
        meaning = _MEANINGS[found[0].lower()]
        if meaning in told:
            return found[0]
        told.add(meaning)
        return f"{found[0]} ({meaning})"

    return _NAMED.sub(insert, question)
