"""What is raised, lowered or struck through reads alike in every format."""

from __future__ import annotations

import pytest

from tests.parser.documents.marked_up import FORMATS, Parts, line_of


def parts_of(line: str) -> Parts:
    """``x^{2}``, ``x_{2}`` and ``~{x}`` are raised, lowered and struck through."""
    looks = {"^": "up", "_": "down", "~": "struck"}
    parts: Parts = []
    for piece in line.split("}"):
        plain, brace, inner = piece.partition("{")
        parts += [(plain[:-1], ""), (inner, looks[plain[-1]])] if brace else [(plain, "")]
    return [part for part in parts if part[0]]


LINES = [
    ("a yield of 3·10^{14} grains on 25 km^{2}", "a yield of 3·10¹⁴ grains on 25 km²"),
    ("the gas SO_{2} at v_{max} of 20^{o}C", "the gas SO₂ at v_max of 20°C"),
    ("a jar is $6^{95} or €1,200^{50} today", "a jar is $6.95 or €1,200.50 today"),
    ("3^{49} € a loaf, 7^{3} € a sack", "3.49 € a loaf, 7³ € a sack"),
    ("$10^{9} in gold, $10^{95} in silver", "$10⁹ in gold, $10.95 in silver"),
    ("the mill opens at 6^{45} am and 9^{00} too", "the mill opens at 6:45 am and 9:00 too"),
    ("1 m is 10^{12} pm, 6·10^{24} H, at 10^{30} pm", "1 m is 10¹² pm, 6·10²⁴ H, at 10:30 pm"),
    ("in 3·4^{15} pm and 24^{36} s", "in 3·4¹⁵ pm and 24³⁶ s"),
    ("from 8:15^{am} to 5^{p.m.} daily", "from 8:15am to 5p.m. daily"),
    ("in 1893^{4} and 2016–2017^{12} it rained", "in 1893[4] and 2016–2017[12] it rained"),
    ("there were 48,500^{1} sheep, 17%^{2} of all", "there were 48,500[1] sheep, 17%[2] of all"),
    ("fees of £250^{3} in Q2^{1}, output (all mills)^{5}", "fees of £250[3] in Q2[1], output (all mills)[5]"),
    ("sales (net)^{2} of the UK^{3} and harvest^{a,b}", "sales (net)[2] of the UK3 and harvesta,b"),
    ("1999^{2} = 3,996,001 and 4·2025^{2} and 1024^{3}", "1999² = 3,996,001 and 4·2025² and 1024³"),
    ("at (a + b)^{2}, f(x)^{2} and 1.05^{10}", "at (a + b)², f(x)² and 1.05¹⁰"),
    ("the 3^{rd} Mill^{®} of M^{lle} Roux, n^{o} 4", "the 3rd Mill® of Mlle Roux, no 4"),
    ("it costs ~{80} 65 euro", "it costs 65 euro"),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("line", "shown"), LINES)
def test_what_is_raised_lowered_or_struck_reads_alike(format: str, line: str, shown: str) -> None:
    assert line_of(format, parts_of(line)) == shown
