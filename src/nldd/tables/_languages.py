"""Which encoding a text is in, told by the letters that its decoding would have.

A wrong encoding shows letters that no language puts together: Polish ones next to Spanish ones,
capitals behind small letters, Greek within Latin words, or Chinese characters that nobody uses.
For each language the letters beyond ASCII are listed here by how frequent they are, and the
encoding wins that turns the bytes into the usual letters of one of the languages. On short answers
this is right where general detectors, made for long texts, guess.
"""
# ruff: noqa: RUF001 (the letters of other languages are what it is about)

import codecs
from collections import Counter
from dataclasses import dataclass
from functools import cache

# A Windows encoding is far more likely than the others, where both would make sense.
_WEST = {"cp1252": 1.0, "mac_roman": 0.97, "cp850": 0.97}
_CENTRAL = {"cp1250": 1.0, "iso8859_2": 0.97, "cp852": 0.97}
_CYRILLIC = {"cp1251": 1.0, "koi8_u": 0.97, "cp866": 0.97, "iso8859_5": 0.95, "mac_cyrillic": 0.9}
_BALTIC = {"cp1257": 1.0}

_LATIN = (
    ("üäöß", _WEST),  # German
    ("éèàêçôâîùûïëœüæ", _WEST),  # French
    ("óíáéñúü¿¡ºª", _WEST),  # Spanish
    ("ãçéáíóêõúàâôºª", _WEST),  # Portuguese
    ("àèòùéìíó", _WEST),  # Italian
    ("äöåé", _WEST),  # Swedish, Finnish
    ("øåæéòôê", _WEST),  # Danish, Norwegian
    ("íáðóéúöýþæ", _WEST),  # Icelandic
    ("éëïóöèüêá", _WEST),  # Dutch
    ("óàéèíòçúïü·", _WEST),  # Catalan
    ("ąęłżóśćńź", _CENTRAL),  # Polish
    ("íáéžřěšýčůúňóťď", _CENTRAL),  # Czech
    ("íáéžšýčúľťôňóäďŕĺ", _CENTRAL),  # Slovak
    ("áéőóöíüúű", _CENTRAL),  # Hungarian
    ("čšžćđ", _CENTRAL),  # Croatian, Slovene
    ("ăîşţâ", _CENTRAL),  # Romanian
    ("ıüşçğöiâî", {"cp1254": 1.0}),  # Turkish
    ("ėšųįžąčūę", _BALTIC),  # Lithuanian
    ("āīēšņļžūčķģ", _BALTIC),  # Latvian
    ("äõüöšž", _BALTIC),  # Estonian
)
_OTHER = (
    ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфёъ", _CYRILLIC),  # Russian
    ("оаниівртелскдумпзьягбчхцйїжюшєщфґ", _CYRILLIC),  # Ukrainian
    ("аоиенрстјвукдмплзбгшчцњжљћфџхђ", _CYRILLIC),  # Serbian
    ("аиоентрсвлкдпмуъзгябчщшжцйхюфь", _CYRILLIC),  # Bulgarian
    ("ατοιενσρκπυλμςηδέόίάγχθφήώβξύζψϊ", {"cp1253": 1.0}),  # Greek
    ("יולאהמרתבשנדפקעחטצגסזכםןךףץ", {"cp1255": 1.0}),  # Hebrew
    ("اليمنوتربةدعسفهكقحجأذصشطىخإزضآغئءظثؤ", {"cp1256": 1.0}),  # Arabic
    ("านรอกเงมยลวดทส่ตะปบค้ิแจพชขใไหโีัืุู็์ำผซถธภณฟฐศฏญษ", {"cp874": 1.0}),  # Thai
)
_SIMPLE = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过"
    "发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過"
    "發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前"
)
_HANGUL = (
    "이다는을가에고하지의로한를은기도니사시어자아서나인라있해보수습게리만대일그스정부제상장주원으여"
    "거들구면전오안무것요없더적성동야되우공경비조유마모세음관국신양문실방물"
)
_SIGNS = "“”„‘’‚–—…«»‹›°€§£©®™·•\u00a0、。，！？：；「」（）・ー"

MISFIT = "\ufffd"
MOST_MISFITS = 0.02  # share of bytes that a damaged file may have in no encoding

Around = tuple[str, str, str]  # a character beyond ASCII between its neighbours


@dataclass(frozen=True)
class Guess:
    """An encoding and how usual the letters are that it gives, about 1 for the right one."""

    encoding: str
    score: float


def guess_encodings(sample: bytes) -> list[Guess]:
    """Encodings that can decode a sample, the most likely one first.

    Examples
    --------
    >>> [guess.encoding for guess in guess_encodings("für größere Häuser".encode("cp1252"))][0]
    'cp1252'
    >>> [guess.encoding for guess in guess_encodings("обычный ответ".encode("koi8-r"))][0]
    'koi8_u'
    """
    scores: dict[str, float] = {}
    decoded: dict[str, Counter[Around] | None] = {}

    def judge(encoding: str, score: "_Score", factor: float) -> None:
        if encoding not in decoded:
            decoded[encoding] = _characters(sample, encoding)
        characters = decoded[encoding]
        if characters:
            scores[encoding] = max(scores.get(encoding, 0.0), factor * score(characters))

    for letters, encodings in _LATIN:
        for encoding, factor in encodings.items():
            judge(encoding, _Score(_weights(letters, 0.3), latin=True), factor)
    for letters, encodings in _OTHER:
        for encoding, factor in encodings.items():
            judge(encoding, _Score(_weights(letters, 0.8), latin=False), 1.2 * factor)
    judge("gb18030", _Score(_wide(_SIMPLE, "一", "鿿"), latin=True), 1.0)
    judge("big5", _Score(_wide(_TRADITIONAL, "一", "鿿"), latin=True), 1.0)
    judge("cp949", _Score(_wide(_HANGUL, "가", "힣"), latin=True), 1.0)
    japanese = _wide(_SIMPLE + _TRADITIONAL, "一", "鿿") | _wide("", "ぁ", "ヶ", 1.0)
    judge("cp932", _Score(japanese, latin=True), 1.0)
    judge("euc_jp", _Score(japanese, latin=True), 1.0)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [Guess(encoding, score) for encoding, score in ranked]


def _characters(sample: bytes, encoding: str) -> Counter[Around] | None:
    # Not final: the sample may end within a character.
    text = f" {codecs.getincrementaldecoder(encoding)('replace').decode(sample)} "
    triples = zip(text, text[1:], text[2:], strict=False)
    characters = Counter(triple for triple in triples if triple[1] > "\x7f")
    return characters if text.count(MISFIT) <= MOST_MISFITS * characters.total() else None


@cache
def _weights(letters: str, slope: float) -> dict[str, float]:
    return {letter: 1 - slope * rank / len(letters) for rank, letter in enumerate(letters)}


@cache
def _wide(frequent: str, first: str, last: str, others: float = 0.5) -> dict[str, float]:
    block = dict.fromkeys(map(chr, range(ord(first), ord(last) + 1)), others)
    return block | dict.fromkeys(frequent, 1.0)


@dataclass(frozen=True)
class _Score:
    """Mean weight of the characters beyond ASCII, 0 for those in an impossible place."""

    weights: dict[str, float]
    latin: bool

    def __call__(self, characters: Counter[Around]) -> float:
        total = got = 0.0
        for (before, letter, after), n in characters.items():
            weight = self._weight(letter)
            if weight is None and letter in _SIGNS:
                within_word = before.isalpha() and after.isalpha() and letter != "’"
                total, got = total + n / 2, got + n / 2 * (not within_word)
            elif "\x80" <= letter <= "\x9f" or letter == MISFIT:
                total += 2 * n
            else:
                possible = not (letter.isupper() and before.islower())
                if not self.latin:
                    possible = possible and not (_is_ascii_letter(before + after))
                total, got = total + n, got + n * possible * (weight or 0.0)
        return got / total if total else 0.0

    def _weight(self, letter: str) -> float | None:
        return self.weights.get(letter, self.weights.get(letter.lower()[0]))


def _is_ascii_letter(pair: str) -> bool:
    return any(character.isascii() and character.isalpha() for character in pair)
