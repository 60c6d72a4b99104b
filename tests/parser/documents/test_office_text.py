"""Word, PowerPoint and Excel: what one sees is what is read. Powers, formulas, numbers, symbols, code, number formats."""

from __future__ import annotations

import datetime
import time

import pptx
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.oxml import parse_xml

from tests.parser.documents.files import (
    docx_file,
    pptx_file,
    read,
    replaced,
    saved,
    slide_text,
    texts,
    workbook,
)
from tests.parser.documents.office_xml import M, W, paragraph, run, word
from trivium.parser.documents.number_format import shown_number
from trivium.types import Page

UP, DOWN = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'


def lines(page: Page) -> list[str]:
    return [line for _, _, text in texts(page) for line in text.split("\n")]


def formula(xml: str) -> str:
    return lines(read("docx", word(paragraph(f"<m:oMath>{xml}</m:oMath>"))))[0]


def t(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def test_powers_in_word_slides_and_sheets() -> None:
    """However many runs an exponent is in; ordinals and marks of notes get no sign."""
    data = word(
        paragraph(run("A star of 4·10"), run("2", UP), run("9", UP), run(" kg")),
        paragraph(
            run("CO"),
            run("2", DOWN),
            run(" on the 3"),
            run("rd", UP),
            run(" of May, see the annex"),
            run("7", UP),
        ),
        paragraph(run("raised: 5"), run("3", '<w:position w:val="10"/><w:sz w:val="14"/>'), run(" = 125")),
    )
    assert lines(read("docx", data)) == [
        "A star of 4·10²⁹ kg",
        "CO₂ on the 3rd of May, see the annex7",
        "raised: 5³ = 125",
    ]
    show, frame = slide_text()
    for text, baseline in (
        ("about 7·10", None),
        ("1", "30000"),
        ("4", "30000"),
        (" m of H", None),
        ("2", "-25000"),
    ):
        one = frame.paragraphs[0].add_run()
        one.text = text
        if baseline:
            one._r.get_or_add_rPr().set("baseline", baseline)
    assert lines(read("pptx", saved(show))) == ["about 7·10¹⁴ m of H₂"]
    book = workbook(["Area", "Flow"])
    book.active["C1"] = "Code"
    book.active["C2"] = 5
    book.active["A2"] = CellRichText("20 km", TextBlock(InlineFont(vertAlign="superscript"), "2"))
    book.active["B2"] = CellRichText("8", TextBlock(InlineFont(vertAlign="superscript"), "-1"), " s")
    assert "Area: 20 km²; Flow: 8⁻¹ s; Code: 5" in lines(read("xlsx", saved(book)))


def test_a_style_of_characters_raises_them() -> None:
    styles = (
        f"<w:styles {W}><w:style w:type='character' w:styleId='up'><w:rPr>{UP}</w:rPr></w:style></w:styles>"
    )
    data = word(paragraph(run("6·10"), run("5", '<w:rStyle w:val="up"/>')), parts={"styles": styles})
    assert lines(read("docx", data)) == ["6·10⁵"]


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (f"<m:f><m:num>{t('5')}</m:num><m:den>{t('9')}</m:den></m:f>", "5/9"),
        (f"{t('3')}<m:f><m:num>{t('1')}</m:num><m:den>{t('4')}</m:den></m:f>", "3 1/4"),
        (f"<m:f><m:num>{t('u + v')}</m:num><m:den>{t('2')}</m:den></m:f>", "(u + v)/2"),
        (f"<m:sSup><m:e>{t('11')}</m:e><m:sup>{t('4')}</m:sup></m:sSup>", "11⁴"),
        (f"<m:sSup><m:e>{t('speed')}</m:e><m:sup>{t('2')}</m:sup></m:sSup>", "speed²"),
        (f"<m:sSubSup><m:e>{t('x')}</m:e><m:sub>{t('1')}</m:sub><m:sup>{t('2')}</m:sup></m:sSubSup>", "x₁²"),
        (f"<m:rad><m:deg>{t('3')}</m:deg><m:e>{t('64')}</m:e></m:rad>", "³√64"),
        (f"<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>{t('7')}</m:e></m:rad>", "√7"),
        (f"<m:d><m:e>{t('a+b')}</m:e></m:d>", "(a+b)"),
        (
            f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{t('i=1')}</m:sub><m:sup>{t('n')}</m:sup>"
            f"<m:e>{t('i')}</m:e></m:nary>",
            "∑_(i=1)ⁿ i",
        ),
        (
            f"<m:m><m:mr><m:e>{t('1')}</m:e><m:e>{t('2')}</m:e></m:mr><m:mr><m:e>{t('3')}</m:e></m:mr></m:m>",
            "[1, 2; 3]",
        ),
        (
            f"<m:d><m:e><m:m><m:mr><m:e>{t('7')}</m:e></m:mr><m:mr><m:e>{t('k')}</m:e></m:mr></m:m></m:e></m:d>",
            "(7; k)",
        ),
        (
            f"<m:sSup><m:e><m:sSup><m:e>{t('y')}</m:e><m:sup>{t('4')}</m:sup></m:sSup></m:e><m:sup>{t('5')}</m:sup></m:sSup>",
            "(y⁴)⁵",
        ),
        (
            f"<m:sPre><m:sub>{t('88')}</m:sub><m:sup>{t('226')}</m:sup><m:e>{t('Ra')}</m:e></m:sPre>",
            "²²⁶₈₈Ra",
        ),
        (f"<m:acc><m:accPr><m:chr m:val='\u20d7'/></m:accPr><m:e>{t('PQ')}</m:e></m:acc>", "P\u20d7Q\u20d7"),
        (f"<m:limUpp><m:e>{t('y')}</m:e><m:lim>{t('max')}</m:lim></m:limUpp>", "y^max"),
        (f"<m:limLow><m:e>{t('p+q')}</m:e><m:lim>{t('k')}</m:lim></m:limLow>", "(p+q)_k"),
        (f"<m:phant><m:phantPr><m:show m:val='0'/></m:phantPr><m:e>{t('9')}</m:e></m:phant>{t('7')}", "7"),
        (f"<m:groupChr><m:groupChrPr><m:chr m:val='⏞'/></m:groupChrPr><m:e>{t('d')}</m:e></m:groupChr>", "d"),
        (
            f"<m:func><m:fName><m:limLow><m:e>{t('lim')}</m:e><m:lim>{t('t→9')}</m:lim></m:limLow></m:fName>"
            f"<m:e>{t('t')}</m:e></m:func>",
            "lim_(t→9) t",
        ),
    ],
)
def test_formulas_on_one_line(xml: str, expected: str) -> None:
    assert formula(xml) == expected


@pytest.mark.parametrize("name", ["acc", "bar", "d", "box", "sSup", "rad", "func", "eqArr", "m"])
def test_deeply_nested_formulas_take_little_time(name: str) -> None:
    xml = t("x")
    for _ in range(60):
        inner = f"<m:e>{xml}</m:e>"
        xml = f"<m:{name}>{f'<m:mr>{inner}</m:mr>' if name == 'm' else inner}</m:{name}>"
    started = time.process_time()
    assert "x" in formula(xml)
    assert time.process_time() - started < 2


def test_a_displayed_formula_is_no_heading() -> None:
    shown = f"<m:oMathPara><m:oMath>{t('E=m')}</m:oMath></m:oMathPara>"
    page = read("docx", word(paragraph(shown), paragraph(run("It is old."))))
    assert page.sections == () and lines(page) == ["E=m", "It is old."]


def numbering(*levels: tuple[str, str, str], more: str = "", overrides: str = "") -> str:
    defined = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/>{extra}<w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for at, (format, text, extra) in enumerate(levels)
    )
    return (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="4">{defined}</w:abstractNum>{more}'
        f'<w:num w:numId="9"><w:abstractNumId w:val="4"/></w:num>'
        f'<w:num w:numId="10"><w:abstractNumId w:val="4"/>{overrides}</w:num></w:numbering>'
    )


def numbered(text: str, level: int, number: int = 9, style: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return paragraph(
        run(text),
        properties=f'{named}<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>',
    )


def test_automatic_numbers_of_headings_clauses_and_lists() -> None:
    legal = numbering(
        ("upperRoman", "Part %1", ""), ("decimal", "%1.%2", "<w:isLgl/>"), ("lowerLetter", "(%3)", "")
    )
    page = read(
        "docx",
        word(
            numbered("Guests", 0, style="Heading1"),
            numbered("Guests sign in.", 1),
            numbered("with a name", 2),
            numbered("", 2),
            numbered("with a date", 2),
            numbered("Rooms", 0, style="Heading1"),
            numbered("Rooms are swept.", 1),
            numbered("Beds are made.", 1),
            parts={"numbering": legal},
        ),
    )
    assert [section.heading for section in page.sections] == ["Part I Guests", "Part II Rooms"]
    assert [line.strip() for line in lines(page)] == [
        "1.1 Guests sign in.",
        "(a) with a name",
        "(c) with a date",
        "2.1 Rooms are swept.",
        "2.2 Beds are made.",
    ]


def test_lists_restart_where_they_say_so_and_bullets_have_no_number() -> None:
    parts = {
        "numbering": numbering(
            ("decimal", "%1)", ""),
            ("bullet", "•", ""),
            overrides='<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>',
        )
    }
    data = word(
        numbered("fill", 0), numbered("slowly", 1), numbered("heat", 0), numbered("stir", 0, 10), numbered("cool", 0),
        parts=parts,
    )  # fmt: skip
    assert [line.strip() for line in lines(read("docx", data))] == [
        "1) fill",
        "slowly",
        "2) heat",
        "7) stir",
        "8) cool",
    ]


def test_a_style_numbers_its_paragraphs() -> None:
    styles = (
        f'<w:styles {W}><w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:pPr><w:numPr>'
        '<w:numId w:val="9"/></w:numPr></w:pPr></w:style></w:styles>'
    )
    parts = {"styles": styles, "numbering": numbering(("ordinal", "%1 rule:", '<w:pStyle w:val="Clause"/>'))}
    clause = '<w:pStyle w:val="Clause"/>'
    data = word(
        *(paragraph(run(text), properties=clause) for text in ("Knock.", "Wait.", "Enter.")), parts=parts
    )
    assert lines(read("docx", data)) == ["1st rule: Knock.", "2nd rule: Wait.", "3rd rule: Enter."]


def test_slides_number_their_bullets() -> None:
    show, frame = slide_text()
    for text, kind in (
        ("Plan", "romanUcPeriod"),
        ("Dig", "romanUcPeriod"),
        ("Rest", ""),
        ("Sow", "alphaLcParenR"),
    ):
        one = frame.add_paragraph()
        one.text = text
        if kind:
            one._p.get_or_add_pPr().append(
                one._p.makeelement(f"{{{one._p.nsmap['a']}}}buAutoNum", {"type": kind})
            )
    assert lines(read("pptx", saved(show))) == ["I. Plan", "II. Dig", "Rest", "a) Sow"]


@pytest.mark.parametrize("of_master", [False, True])
def test_slides_inherit_the_numbers_of_their_layout(of_master: bool) -> None:
    show = pptx.Presentation()
    layout = show.slide_layouts[1]
    drawing = f"{{{layout.placeholders[1]._element.nsmap['a']}}}"
    if of_master:
        (level,) = show.slide_master._element.iterfind(f".//{{*}}bodyStyle/{drawing}lvl1pPr")
        for child in level.iterchildren(f"{drawing}buChar"):
            level.remove(child)
    else:
        style = layout.placeholders[1]._element.txBody.find(f"{drawing}lstStyle")
        level = style.makeelement(f"{drawing}lvl1pPr", {})
        style.append(level)
    level.append(level.makeelement(f"{drawing}buAutoNum", {"type": "arabicParenR"}))
    slide = show.slides.add_slide(layout)
    slide.shapes.title.text, slide.placeholders[1].text = "Tide", "Ebb\nFlood"
    assert lines(read("pptx", saved(show))) == ["1) Ebb", "2) Flood"]


def test_items_typed_with_line_breaks_stand_on_lines_of_their_own() -> None:
    data = word(
        paragraph(run("Bring:"), "<w:r><w:br/></w:r>", run("– rope"), "<w:r><w:br/></w:r>", run("and tea"))
    )
    assert lines(read("docx", data)) == ["Bring:", "– rope and tea"]
    show = pptx.Presentation()
    box = show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9)
    box.text_frame.paragraphs[0].text = "Bring:\v• rope\v• tea"
    assert lines(read("pptx", saved(show))) == ["Bring:", "• rope", "• tea"]


def test_symbols_are_read_as_the_signs_that_one_sees() -> None:
    fonts = '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>'
    data = word(
        paragraph(run("a slope "), '<w:r><w:sym w:font="Symbol" w:char="F062"/></w:r>', run(" of 4")),
        paragraph(run("sealed "), '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', run(" and dry")),
        paragraph(run("a load \uf044P "), run("\uf0b3", fonts), run(" 5")),
        paragraph(run("broken "), '<w:r><w:sym w:font="Wingdings" w:char="x"/></w:r>', run("sign")),
    )
    assert lines(read("docx", data)) == ["a slope β of 4", "sealed ☑ and dry", "a load P ≥ 5", "broken sign"]


def test_symbols_of_sheets_and_slides_are_read_as_the_signs_that_one_sees() -> None:
    book = workbook(["Task", "State"], ["Caulk", "\xfc"], ["Slope", "b"], ["Paint", "b"])
    book.active["B2"].font, book.active["B3"].font = Font(name="Wingdings"), Font(name="Symbol")
    assert lines(read("xlsx", saved(book)))[1:] == ["Caulk: ✓", "Slope: β", "Paint: b"]
    rich = workbook(["Sail", CellRichText("mended ", TextBlock(InlineFont(rFont="Wingdings"), "\xfc"))])
    assert lines(read("xlsx", saved(rich))) == ["Sail: mended ✓"]
    show, frame = slide_text()
    for text, fonts in (
        ("Mast \uf0fc", {"latin": "Arial", "sym": "Wingdings"}),
        ("\xfb", {"latin": "Wingdings"}),
    ):
        one = frame.paragraphs[0].add_run()
        one.text = text
        properties = one._r.get_or_add_rPr()
        for name, font in fonts.items():
            tag = f"{{{properties.nsmap['a']}}}{name}"
            properties.append(properties.makeelement(tag, {"typeface": font}))
    assert lines(read("pptx", saved(show))) == ["Mast ✓✗"]


def test_struck_through_and_hidden_text_is_dropped_everywhere() -> None:
    data = word(
        paragraph(
            run("The fee is "), run("40", "<w:strike/>"), run(" 45 euro"), run(" secret", "<w:vanish/>")
        )
    )
    assert lines(read("docx", data)) == ["The fee is 45 euro"]
    book = workbook(["Fee", "Old"], [45, 40])
    book.active["B2"].font = Font(strike=True)
    assert "Fee: 45" in lines(read("xlsx", saved(book)))
    show, frame = slide_text()
    for text, strike in (("Fee: ", None), ("40 ", "sngStrike"), ("45", None)):
        one = frame.paragraphs[0].add_run()
        one.text = text
        if strike:
            one._r.get_or_add_rPr().set("strike", strike)
    assert lines(read("pptx", saved(show))) == ["Fee: 45"]


def test_code_keeps_its_lines_and_indentation() -> None:
    mono = '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>'
    tab = f"<w:r><w:rPr>{mono}</w:rPr><w:tab/><w:t>beep()</w:t></w:r>"
    data = word(
        paragraph(run("The timer:")),
        paragraph(run("for second in range(9):", mono)),
        paragraph(tab),
        paragraph(properties=f"<w:rPr>{mono}</w:rPr>"),
        paragraph(run("    # The end of it all, and of the loop.", mono)),
        paragraph(run("print(1)", mono)),
        paragraph(run("It runs "), run("nightly", mono), run(".")),
        paragraph(run("This sentence was typed with a typewriter.", mono)),
    )
    found = texts(read("docx", data))
    assert [kind for _, kind, _ in found] == ["paragraph", "code", "paragraph", "paragraph"]
    assert [text for _, _, text in found] == [
        "The timer:",
        "for second in range(9):\n    beep()\n\n    # The end of it all, and of the loop.\nprint(1)",
        "It runs nightly.",
        "This sentence was typed with a typewriter.",
    ]


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (42, "00000", "00042"),
        (7.5, '#,##0.00\\ "kr"', "7.50 kr"),
        (1234567, "[$¥-411]#,##0", "¥1,234,567"),
        (0.4567, "0%", "46%"),
        (2.5, "0.00", "2.50"),
        (-3, "0;(0)", "(3)"),
        (0, '0;-0;"none"', "none"),
        (250, '[>=100]"many";0', "many"),
        (12, '[>=100]"many";0', "12"),
        (1.375, "# ?/?", "1 3/8"),
        (0.75, "# ??/16", "12/16"),
        (123456, "0.00E+00", "1.23E+05"),
        (4_500_000, '0.0,,"M"', "4.5M"),
        (6, '"No. "0', "No. 6"),
        (5551234, "000\\-0000", "555-1234"),
        (8, "General", "8"),
        (3, "@", "3"),
        (2.345, "0.00", "2.35"),
    ],
)
def test_numbers_are_shown_in_their_format(number: float, code: str, shown: str) -> None:
    book = workbook(["Item", "Value"], ["x", number])
    book.active["B2"].number_format = code
    assert f"Item: x; Value: {shown}" in lines(read("xlsx", saved(book)))


@pytest.mark.parametrize(
    "code", ["", ";;;", "[", '"', "0.", ".", "/", "0/0", "E+", "0" * 300, "[<]0", "\\", "?/0"]
)
def test_formats_that_make_no_sense_do_no_harm(code: str) -> None:
    for number in (0.0, -1.5, 1e300, 12345.678):
        assert isinstance(shown_number(number, code, "n"), str)


@pytest.mark.parametrize(
    ("days", "code", "shown"),
    [
        (30.25 / 24, "[h]:mm", "30:15"),
        (30.25 / 24, "[h]:mm:ss", "30:15"),
        (95 / 1440, "[mm]:ss", "95:00"),
        (-0.5, "[hh]:mm", "-12:00"),
        (2 / 1440, "[s]", "120"),
        (0.5, "h:mm", "12:00:00"),
    ],
)
def test_durations_are_counted_beyond_a_day(days: float, code: str, shown: str) -> None:
    book = workbook(["Watch", days])
    book.active["B1"].number_format = code
    assert lines(read("xlsx", saved(book))) == [f"Watch: {shown}"]


def test_tables_beside_each_other_in_a_file_of_rows_are_tables_of_their_own() -> None:
    page = read("csv", b"Tree,Age,,Bird,Nests\nOak,90,,Tit,3\nElm,40,,Owl,1\n")
    assert [text for _, _, text in texts(page)] == [
        "Tree | Age\nTree: Oak; Age: 90\nTree: Elm; Age: 40",
        "Bird | Nests\nBird: Tit; Nests: 3\nBird: Owl; Nests: 1",
    ]


def test_tables_beside_each_other_are_tables_of_their_own() -> None:
    book = workbook(
        ["Tree", "Age", None, "Bird", "Nests", "Seen"],
        ["Oak", 90, None, "Tit", 3, "May"],
        ["Elm", 40, None, "Owl", 1, "June"],
        [None, None, None, "Jay", 2, "July"],
    )
    found = [text for _, _, text in texts(read("xlsx", saved(book)))]
    assert found == [
        "Tree | Age\nTree: Oak; Age: 90\nTree: Elm; Age: 40",
        "Bird | Nests | Seen\nBird: Tit; Nests: 3; Seen: May\n"
        "Bird: Owl; Nests: 1; Seen: June\nBird: Jay; Nests: 2; Seen: July",
    ]


def test_tables_beside_each_other_may_begin_with_codes() -> None:
    book = workbook(
        ["Code", "Part", None, "Code", "Fee"], [7, "rope", None, 12, "free"], [8, "oar", None, 13, "paid"]
    )
    for cell in ("A2", "A3", "D2", "D3"):
        book.active[cell].number_format = "0000"
    found = lines(read("xlsx", saved(book)))
    assert "Code: 0007; Part: rope" in found and "Code: 0013; Fee: paid" in found


def test_an_empty_column_between_figures_is_part_of_one_table() -> None:
    book = workbook(
        ["Item", "2023", None, "2022", "2021"], ["Sales", 5, None, 4, 3], ["Costs", 2, None, 2, 1]
    )
    assert "Item: Sales; 2023: 5; 2022: 4; 2021: 3" in lines(read("xlsx", saved(book)))


@pytest.mark.parametrize("stamp", [datetime.datetime(2013, 12, 23, 23, 15), datetime.datetime(2030, 1, 1)])
def test_the_date_of_a_template_is_not_that_of_the_document(stamp: datetime.datetime) -> None:
    """Nor one after the last change."""
    book = workbook(["a", "b"])
    changed = saved(book)
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
        ' xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:created>{created}</dcterms:created>'
        "<dcterms:modified>2023-04-05T06:07:08Z</dcterms:modified></cp:coreProperties>"
    )
    for format, data in (("xlsx", changed), ("docx", docx_file()), ("pptx", pptx_file())):
        page = read(format, replaced(data, "docProps/core.xml", core.format(created=stamp.isoformat() + "Z")))
        assert page.metadata["created"] == page.modified == "2023-04-05T06:07:08Z"


def test_headers_comments_and_footers_are_read_once() -> None:
    header = (
        f"<w:hdr {W}>{paragraph(run('Harbour Office, Quay 9'))}{paragraph(run('Page 3'), field())}</w:hdr>"
    )
    comment = f'<w:comment w:id="1" w:author="Ida">{paragraph(run("Is this so?"))}</w:comment>'
    data = word(
        paragraph(run("The quay is closed."), '<w:r><w:commentReference w:id="1"/></w:r>'),
        paragraph(run("It opens in May.")),
        parts={"header": header, "comments": f"<w:comments {W}>{comment}</w:comments>"},
    )
    assert lines(read("docx", data)) == [
        "The quay is closed.",
        "Comment by Ida: Is this so?",
        "It opens in May.",
        "Harbour Office, Quay 9",
    ]


def field() -> str:
    return '<w:fldSimple w:instr=" PAGE "/>'


def test_charts_comments_and_text_boxes_of_sheets_and_texts_are_read() -> None:
    from openpyxl.chart import BarChart, Reference
    from openpyxl.comments import Comment

    book = workbook(["Mill", "Sacks"], ["Upper", 12], ["Lower", 31])
    book.active["B2"].comment = Comment("counted twice", "Ida")
    chart = BarChart()
    chart.title = "Sacks of flour"
    chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    book.active.add_chart(chart, "D2")
    found = lines(read("xlsx", saved(book)))
    assert "Comment on B2: counted twice" in found and "Sacks of flour" in found

    part = (
        '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea><c:pieChart>'
        "<c:ser><c:tx><c:v>Loaves</c:v></c:tx><c:cat><c:strLit><c:pt idx='0'><c:v>Rye</c:v></c:pt></c:strLit></c:cat>"
        "<c:val><c:numLit><c:pt idx='0'><c:v>80</c:v></c:pt></c:numLit></c:val></c:ser></c:pieChart></c:plotArea>"
        "</c:chart></c:chartSpace>"
    )
    inside = (
        '<w:r><w:drawing><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="own-chart"/>'
        "</w:drawing></w:r>"
    )
    page = read("docx", word(paragraph(run("We bake.")), paragraph(inside), parts={"chart": part}))
    assert lines(page) == ["We bake.", "Loaves", "Rye; Loaves: 80"]


def test_formulas_of_slides_are_read() -> None:
    show, frame = slide_text()
    frame.text = "The area is "
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    a14 = "http://schemas.microsoft.com/office/drawing/2010/main"
    power = f"<m:sSup><m:e>{t('r')}</m:e><m:sup>{t('2')}</m:sup></m:sSup>"
    inside = (
        f'<mc:AlternateContent xmlns:mc="{mc}" {M}><mc:Choice xmlns:a14="{a14}" Requires="a14"><a14:m><m:oMath>'
        f"{t('π')}{power}</m:oMath></a14:m></mc:Choice><mc:Fallback/></mc:AlternateContent>"
    )
    frame.paragraphs[0]._p.append(parse_xml(inside))
    assert lines(read("pptx", saved(show))) == ["The area is πr²"]


def test_shapes_are_where_the_layout_puts_them() -> None:
    """A placeholder without a place of its own; the order in the file is another."""
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[3])  # a title above two columns
    title, left, right = slide.placeholders
    title.text, left.text, right.text = "Kilns", "west", "east"
    slide.shapes._spTree.remove(left._element)
    slide.shapes._spTree.append(left._element)
    assert lines(read("pptx", saved(show)))[-2:] == ["west", "east"]
