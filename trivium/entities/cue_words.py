"""Words by which names are recognised, and words with a capital that are none."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from trivium.text.function_words import FUNCTION_WORDS
from trivium.text.languages import NAMES, function_words


def _words(text: str, separator: str | None = None) -> frozenset[str]:
    return frozenset(text.split(separator))


CONNECTORS = _words(
    "of|of the|de|de la|de las|de los|de l'|del|della|delle|dei|degli|di|da|do|dos|das|du|des|d'|la|le|el|al|bin|ibn|von"
    "|von der|vom|van|van der|van den|van de|der|den|ter|ten|zu|zur|zum|av|af",
    "|",
)
"""What stands between the words of one name, in lower case."""
GERMAN_CONNECTORS = _words("von|von der|van|van der|van den|de|de la|del|di|da|of|of the|zu", "|")
"""Those that join names rather than nouns in German."""
MEASURES = _words(
    "prozent million millionen milliarde milliarden euro dollar liter meter kilometer kilogramm tonnen grad uhr jahr "
    "jahre jahren jahrhundert ende anfang mitte stück tage zahl abs nr satz"
)
"""German nouns beside which another noun stands."""
WITHOUT_CAPITALS = _words("zh ja ko ar fa ur he yi hi bn ta te mr th lo my km ka am")
"""Languages whose scripts have no capitals."""
TOPIC_CONNECTORS = _words("for|on|and|for the|on the", "|")
"""Those only of names that begin with the word of an institution or a law: "Ministry of Health and Welfare"."""
OWNERS = _words("People Women Men Children Workers King Queen Mother World")
"""Whose genitive stands within names."""
ABBREVIATED = _words(
    "Mr Mrs Ms Dr Drs Prof St Ste Mt Ft Jr Sr Lt Col Gen Gov Sen Rep Rev Hon Capt Sgt Maj Cmdr Adm Messrs Hr Fr Frl "
    "Mme Mlle Sra Srta Dra Sig Inc Ltd Corp Co Bros No Univ Dept Wm Geo Chas Thos Jas Jos"
)
"""Words after whose full stop a name goes on."""
MEN, WOMEN = (
    _words("mr mister sir lord herr herrn monsieur señor signor senhor meneer"),
    _words("mrs ms miss lady dame madam frau mme madame mlle señora signora senhora mevrouw"),
)
ADDRESS = MEN | WOMEN | _words("dr prof professor rev reverend hon st saint")
"""Forms of address that are no part of a name."""
HELD_OFFICES = _words(
    "president chancellor minister senator governor mayor judge justice captain colonel lieutenant "
    "admiral sergeant präsident präsidenten präsidentin kanzler kanzlerin président"
)
OFFICES = (
    ADDRESS
    | HELD_OFFICES
    | _words(
        "king queen prince princess emperor empress tsar pope cardinal bishop archbishop duke duchess earl count "
        "countess baron sultan könig königin kaiser roi reine"
    )
)
"""Words before the name of a person, also those that are a part of it."""
ROLES = _words(
    "manager engineer director officer architect representative assistant specialist analyst writer coordinator "
    "executive contributor administrator advisor consultant developer designer recruiter president minister secretary "
    "chairman leader lead head chief vp counsel member partner editor professor staff"
)
"""Last words of the names of posts."""
LEGAL_FORMS = _words(
    "inc ltd pty llc llp plc corp corporation co gmbh ag kg sa nv bv ab oy srl limited incorporated"
)
INSTITUTIONS = _words(
    "ministry department committee commission council institute institution bureau office academy society museum "
    "centre center college school agency association foundation federation organization organisation board authority "
    "league union campaign administration international national convention conference treaty act"
)
"""First words of names that may contain "for", "on" and "and"."""
LAST_WORDS = {
    "organisation": LEGAL_FORMS
    | (INSTITUTIONS - _words("international national convention conference treaty act centre center union"))
    | _words(
        "university company group bank party press records studios club orchestra team airlines railway newspaper "
        "church laboratory laboratories "
        "bundestag bundesbank universität hochschule institut verein partei université universidad università"
    ),
    "law": _words(
        "act treaty regulation directive constitution convention amendment protocol charter gesetz vertrag"
    ),
    "place": _words(
        "street road avenue square river lake sea ocean bay mount mountain mountains island islands valley park "
        "bridge airport castle county city town village province district peninsula desert station stadium "
        "house palace gardens cemetery straße platz brücke"
    ),
    "event": _words(
        "war wars battle revolution festival olympics games cup championship championships conference siege uprising "
        "rebellion massacre expedition election elections summit"
    ),
    "work": _words(
        "symphony journal times gazette magazine review overture sonata quartet encyclopedia dictionary"
    ),
}
"""Last words of names, by kind."""
NOT_OF_PEOPLE = INSTITUTIONS.union(*LAST_WORDS.values()) | _words(
    "court republic kingdom state states national award prize medal bible theory theorem collection library division "
    "report product plan hall"
)
"""Words of institutions, works and places, also before "of"."""
FIRST_WORDS = {
    "organisation": _words(
        "university ministry department bank institute committee council academy universität"
    ),
    "place": _words("mount lake river isle gulf cape port fort strait bay lac rio monte"),
    "event": _words("battle siege treaty council") - _words("treaty council"),
    "law": _words("treaty regulation directive constitution"),
}
"""First words of names, by kind."""
_KNOWN = json.loads((files(__package__) / "known_names.json").read_text("utf-8"))
PLACES, FIRST_NAMES = frozenset(_KNOWN["places"]), frozenset(_KNOWN["first_names"])
SHORT_PLACES: dict[str, str] = _KNOWN["short_places"]
"""Countries, states of the United States and large cities; first names that name hardly anything else."""

KINDS_OF_NOUNS = {noun: kind for kind, nouns in _KNOWN["nouns"].items() for noun in nouns}
"""Nouns that tell the kind of what is named: "the painter X", "X is a town"."""
NO_RELATION = _words(
    "not never no than like if whether said because due also so as however only when where one some any all many several "
    "considered meant everyone everything them it who which that"
)
"""Words of phrases that say less than a relation, or more."""
LABELS_OF_PEOPLE = _words("name|who|person|employee|executive|team member", "|")
RELATIONS = KINDS_OF_NOUNS.keys() | ROLES | _words("founder owner parent jurisdiction capital department")
"""Nouns of column heads that relate the first cell of a row to another."""

CALENDAR = _words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur "
    "thurs fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays montag dienstag mittwoch "
    "donnerstag freitag samstag sonnabend sonntag januar februar märz mai juni juli oktober dezember spring summer "
    "autumn winter easter christmas lundi mardi mercredi jeudi vendredi samedi dimanche"
)
NUMBERED = _words(
    "form figure fig table tab section sec chapter part page step note appendix volume vol article paragraph equation "
    "eq item level phase version example exhibit footnote act scene episode season day week quarter year fiscal line "
    "row column option question answer abbildung tabelle abschnitt kapitel seite artikel absatz schritt teil tableau "
    "chapitre class series"
)
"""Words with a number that name a place in a document or a count."""
ENDINGS = tuple(_words("ing ion ment ity ness ance ence ism ship ure ly ss ics"))
"""Of words that begin sentences more often than they are names."""
PEOPLES = frozenset(name.lower() for name in NAMES.values()) | _words(
    "american british indian african european asian roman latin arab arabic irish scottish welsh jewish christian "
    "muslim islamic catholic protestant orthodox soviet polish turkish canadian australian austrian swiss belgian "
    "mexican brazilian israeli iranian iraqi egyptian ukrainian hungarian czech romanian bulgarian serbian croatian "
    "hebrew persian ottoman byzantine babylonian vietnamese thai filipino indonesian pakistani cuban argentine "
    "chilean colombian nigerian south north east west eastern western northern southern americans germans europeans "
    "romans greeks jews christians muslims russians indians english-speaking"
)
"""Languages, peoples and directions: adjectives by themselves."""
NO_NAMES = _words(
    "company registrant issuer trustee holder policy agreement ok tv todo xyz ctrl cmd alt shift enter esc am pm bc ad "
    "bce ce id ids faq faqs ceo cfo cto coo vp hr pr ui ux kpi okr rfp tbd tba n/a na eg ie etc vs re ps iii viii xiii "
    "report corporate research usd eur gbp kb mb gb tb kib mib gib url urls "
    "internet web email click see select open save edit close yes no none "
    "true false total totals subtotal amount name title date type status notes description contents overview "
    "introduction references summary home menu search login retrieved archived isbn issn doi pdf god sir madam mr mrs "
    "ms dr first second third last new old great good best two four five six ten"
)
"""Words with a capital that stand alone and name nothing: of clocks, menus, columns and references."""
NO_NAMES_ALONE = NO_NAMES | PEOPLES | NUMBERED | NOT_OF_PEOPLE | OFFICES
_OPENERS = _words(
    "above according across additionally after again against all almost along already also although among another any "
    "anyone apart around aside back based because before below besides between beyond both certain consider contrary "
    "currently despite don't due during each early earlier either else enough especially even eventually ever every "
    "everyone everything except few finally following former formerly further furthermore generally given hence here "
    "however indeed initially instead just late later latter least less let's let like likewise many maybe meanwhile "
    "more moreover most mostly much near nearly neither never nevertheless newer next nobody none nor nothing notably "
    "now occasionally often older once one only onto originally other others otherwise out outside over overall own "
    "particularly perhaps please possibly previous previously prior probably quite rather recent recently regardless "
    "several short shortly similar similarly since some someone something sometimes soon still such thanks therefore "
    "though three through throughout thus today together tomorrow too toward towards typically under unfortunately "
    "unless unlike until up upon use used using usually various very via see click select open press choose enter add "
    "note well whatever whenever whereas wherever whether whichever while whoever whole within without yesterday yet "
    "he's it's we're you're i'm dear hello hi thank seit beim nachdem obwohl viele einige alle mehrere heute gestern "
    "später außerdem jedoch dabei dadurch damals zudem laut"
)
"""Words that begin sentences and are in no list of function words."""


@cache
def opening_words(language: str) -> frozenset[str]:
    """Return the lower-cased words that begin sentences and no names; those of all languages if it has no list."""
    own = function_words(language) or frozenset(" ".join(FUNCTION_WORDS.values()).split())
    return own | _OPENERS
