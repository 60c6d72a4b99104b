"""How passages in other languages are recognised as found."""

from __future__ import annotations

from experiments.languages.measure import same


def test_a_hit_is_a_part_of_the_passage_however_its_letters_are_composed() -> None:
    """Stores compose letters, and never those of Hindi with a nukta; marks of direction are no letters."""
    assert same("लिंडिस्फ\u093cार्न वाला", "लिंडिस्\u095eार्न वाला एक ग्रूप है।")
    assert same("\u200fتقع المنارة", "تقع المنارة على صخرة")
    assert not same("तीन चंद्रमा", "दो चंद्रमा")
