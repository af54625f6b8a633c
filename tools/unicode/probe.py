"""Asks the installed `tokenizers` package how it classifies and maps every code point.

The library is the specification of the C++ front end: each of its components carries Unicode tables
of a different age (Rust's standard library, its regex crate, Oniguruma, old category and
normalization crates), so nothing here is taken from the Unicode database; everything is observed.
"""

import base64
import functools
import json
import struct
import unicodedata

from tokenizers import PreTokenizedString, Regex, normalizers, pre_tokenizers

MAX = 0x110000
CODE_POINTS = [c for c in range(MAX) if not 0xD800 <= c < 0xE000]


def joined(items, separator="\n"):
    return separator.join(items)


def map_each(normalizer, items, separator="\n"):
    """normalizer(item) for every item, in few calls. No item may contain the separator."""
    results = []
    for begin in range(0, len(items), 100000):
        part = items[begin:begin + 100000]
        text = normalizer.normalize_str(joined(part, separator))
        mapped = text.split(separator)
        assert len(mapped) == len(part), (len(mapped), len(part), normalizer)
        results.extend(mapped)
    return results


# --- sets -------------------------------------------------------------------------------------

def isolated_by(pre_tokenizer):
    """Code points that `pre_tokenizer` cuts off from letters on both sides."""
    found = set()
    for begin in range(0, len(CODE_POINTS), 50000):
        part = CODE_POINTS[begin:begin + 50000]
        text = "a" + "a".join(map(chr, part)) + "a"
        pieces = {span[0] for piece, span in pre_tokenizer.pre_tokenize_str(text)
                  if len(piece) == 1 and span[0] % 2 == 1}
        found.update(c for i, c in enumerate(part) if 2 * i + 1 in pieces)
    return found


def removed_by(pre_tokenizer):
    """Code points that `pre_tokenizer` removes between letters."""
    found = set()
    for begin in range(0, len(CODE_POINTS), 50000):
        part = CODE_POINTS[begin:begin + 50000]
        text = "a" + "a".join(map(chr, part)) + "a"
        covered = bytearray(len(text))
        for _, (start, end) in pre_tokenizer.pre_tokenize_str(text):
            covered[start:end] = b"\1" * (end - start)
        found.update(c for i, c in enumerate(part) if not covered[2 * i + 1])
    return found


def glued_by(pre_tokenizer):
    """Code points that `pre_tokenizer` leaves in one piece with letters on both sides."""
    found = set()
    for begin in range(0, len(CODE_POINTS), 50000):
        part = CODE_POINTS[begin:begin + 50000]
        text = "-a" + "a-a".join(map(chr, part)) + "a-"
        pieces = {span[0] for piece, span in pre_tokenizer.pre_tokenize_str(text)
                  if len(piece) == 3}
        found.update(c for i, c in enumerate(part) if 4 * i + 1 in pieces)
    return found


def dropped_by(normalizer, separator):
    """Code points that `normalizer` deletes; no other may become the separator."""
    items = [chr(c) for c in CODE_POINTS if chr(c) != separator]
    return {ord(c) for c, text in zip(items, map_each(normalizer, items, separator)) if text == ""}


def white_space():
    """Rust's char::is_whitespace."""
    return removed_by(pre_tokenizers.WhitespaceSplit())


def numeric():
    """Rust's char::is_numeric."""
    return isolated_by(pre_tokenizers.Digits(individual_digits=True))


def punctuation():
    """ASCII punctuation and the P* categories of the library's category table."""
    return isolated_by(pre_tokenizers.Punctuation())


def regex_word():
    r"""\w of the Rust regex crate."""
    return glued_by(pre_tokenizers.Whitespace())


def regex_space():
    r"""\s of the Rust regex crate."""
    return removed_by(pre_tokenizers.Whitespace())


def bert(**flags):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False,
                   lowercase=False)
    options.update(flags)
    return normalizers.BertNormalizer(**options)


def bert_dropped():
    """What BertNormalizer's clean_text deletes."""
    return dropped_by(bert(clean_text=True), "a")


def bert_chinese():
    """What BertNormalizer surrounds with spaces."""
    items = list(map(chr, CODE_POINTS))
    items = [c for c in items if c != "\n"]
    return {ord(c) for c, text in zip(items, map_each(bert(handle_chinese_chars=True), items))
            if text != c}


def mark_nonspacing():
    """What BertNormalizer's strip_accents deletes after decomposition."""
    return dropped_by(bert(strip_accents=True), "\n") - set(decompositions(normalizers.NFD()))


def combining_mark():
    """What StripAccents deletes."""
    return dropped_by(normalizers.StripAccents(), "\n")


# --- mappings ---------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def _decompositions(name):
    items = [chr(c) for c in CODE_POINTS if c != 0x0A]
    mapped = map_each(getattr(normalizers, name)(), items)
    return {ord(c): tuple(map(ord, text)) for c, text in zip(items, mapped) if text != c}


def decompositions(normalizer):
    return _decompositions(type(normalizer).__name__)


def lowercase():
    items = [chr(c) for c in CODE_POINTS if c != 0x0A]
    mapped = map_each(normalizers.Lowercase(), items)
    return {ord(c): tuple(map(ord, text)) for c, text in zip(items, mapped) if text != c}


def combining_classes():
    """Canonical combining class of every character that decomposition leaves alone, seen from how
    canonical ordering moves it past characters of known class."""
    nfd = normalizers.NFD()
    stable = [c for c in CODE_POINTS if c not in decompositions(nfd) and c != 0x0A]

    def moves_before(reference, candidates):
        """Candidates of a smaller class than the reference (and not 0)."""
        texts = map_each(nfd, [f"a{reference}{chr(c)}" for c in candidates])
        return {c for c, text in zip(candidates, texts) if text == f"a{chr(c)}{reference}" and
                chr(c) != reference}

    def moves_after(reference, candidates):
        texts = map_each(nfd, [f"a{chr(c)}{reference}" for c in candidates])
        return {c for c, text in zip(candidates, texts) if text == f"a{reference}{chr(c)}" and
                chr(c) != reference}

    # U+0334 has the lowest class (1), U+0345 the highest (240).
    nonstarters = sorted(moves_after("\u0334", stable) | moves_before("\u0345", stable))
    references = {}
    for c in nonstarters:
        references.setdefault(unicodedata.combining(chr(c)), chr(c))
    classes = {}
    for value, reference in sorted(references.items()):
        smaller, larger = (moves_before(reference, nonstarters), moves_after(reference, nonstarters))
        for c in nonstarters:
            if c not in smaller and c not in larger:
                assert c not in classes, hex(c)
                classes[c] = value
    assert len(classes) == len(nonstarters), set(nonstarters) - set(classes)
    return classes


def compositions():
    """(first, second) -> composite, Hangul excluded."""
    nfd = decompositions(normalizers.NFD())
    nfc = normalizers.NFC()
    composites = [c for c in nfd if not 0xAC00 <= c < 0xD7A4]
    firsts, seconds = set(), set()
    for c in composites:
        text = "".join(map(chr, nfd[c]))
        if len(text) < 2:
            continue
        seconds.update(text[1:])
        for end in range(1, len(text)):
            head = nfc.normalize_str(text[:end])
            firsts.update(head)
    pairs = [(a, b) for a in sorted(firsts) for b in sorted(seconds)]
    texts = map_each(nfc, [a + b for a, b in pairs])
    # A first character that is itself not NFC-stable never meets the composition step.
    return {(ord(a), ord(b)): ord(text) for (a, b), text in zip(pairs, texts)
            if len(text) == 1 and nfc.normalize_str(a) == a and nfc.normalize_str(b) == b}


def check_hangul():
    nfd, nfc = normalizers.NFD(), normalizers.NFC()
    syllables = [chr(c) for c in range(0xAC00, 0xD7A4)]
    parts = []
    for i in range(len(syllables)):
        lead, vowel, tail = i // 588, i % 588 // 28, i % 28
        parts.append(chr(0x1100 + lead) + chr(0x1161 + vowel) +
                     (chr(0x11A7 + tail) if tail else ""))
    assert map_each(nfd, syllables) == parts
    assert map_each(nfc, parts) == syllables
    assert nfc.normalize_str("\uAC00\u11A8") == "\uAC01"
    assert nfc.normalize_str("\uAC00\u11A7") == "\uAC00\u11A7"
    assert nfc.normalize_str("\uAC01\u11A8") == "\uAC01\u11A8"


# --- scripts ----------------------------------------------------------------------------------

def scripts():
    """Per code point a number: 0 for "any" (never a boundary), else one number per script."""
    split = pre_tokenizers.UnicodeScripts()

    def cut(first, second):
        return len(split.pre_tokenize_str(first + second)) == 2

    latin, han = "a", "\u3042"
    assert cut(latin, han)
    number_of = {}
    representatives = []
    previous = None
    for c in CODE_POINTS:
        char = chr(c)
        if not cut(latin, char) and not cut(han, char):
            number_of[c] = 0
            continue
        if previous is not None and not cut(previous, char):
            number_of[c] = number_of[ord(previous)]
        else:
            same = [i for i, r in enumerate(representatives) if not cut(r, char)]
            assert len(same) <= 1, hex(c)
            if not same:
                representatives.append(char)
                same = [len(representatives) - 1]
            number_of[c] = same[0] + 1
        previous = char
    return number_of


# --- regular expression classes -----------------------------------------------------------------

@functools.lru_cache(maxsize=1)
def everything():
    return "".join(map(chr, CODE_POINTS))


def regex_class(expression):
    """Code points that Oniguruma's `expression` (one character long) matches; None if the library
    does not know it."""
    try:
        pattern = Regex(f"{expression}+")
    except Exception:
        return None
    matched = set()
    pieces = PreTokenizedString(everything())
    pre_tokenizers.Split(pattern, "removed", invert=True).pre_tokenize(pieces)
    for piece, _, _ in pieces.get_splits("original", "byte"):
        matched.update(map(ord, piece))
    return matched


def case_closure():
    """character -> other single characters that match it under (?i)."""
    letters = [chr(c) for c in CODE_POINTS
               if chr(c).casefold() != chr(c) or chr(c).upper() != chr(c) or
               chr(c).lower() != chr(c)]
    # The library may know pairs that this Python does not.
    lower = lowercase()
    letters = sorted(set(letters) | set(map(chr, lower)) |
                     {chr(x) for text in lower.values() for x in text if x > 0x7F or chr(x).isalpha()})
    text = "\n".join(letters)
    closure, multiple = {}, {}
    for char in letters:
        split = pre_tokenizers.Split(Regex(f"(?i:{char})"), "removed", invert=True)
        same = {piece for piece, _ in split.pre_tokenize_str(text)} - {char}
        assert all(len(s) == 1 for s in same), (char, same)
        if same:
            closure[ord(char)] = sorted(map(ord, same))
    for char in letters:
        folded = char.casefold()
        if len(folded) > 1:
            split = pre_tokenizers.Split(Regex(f"(?i:{char})"), "removed", invert=True)
            if split.pre_tokenize_str(folded):
                multiple[ord(char)] = tuple(map(ord, folded))
    return closure, multiple


# --- grapheme clusters --------------------------------------------------------------------------

def charsmap(mapping):
    """A Precompiled normalizer that maps each key of `mapping` to its value: a double-array trie
    laid out without compression, enough for a few keys."""
    units = [0] * 256
    used = {0}

    def place(node, suffixes):
        """suffixes: {remaining bytes: value offset}; node: index of the unit to fill."""
        labels = sorted({key[0] for key in suffixes if key})
        if b"" in suffixes:
            labels = [0] + labels
        base = 256
        while True:
            while len(units) < base + 256:
                units.extend([0] * 256)
            if (node ^ base) < (1 << 21) and all((base ^ label) not in used for label in labels):
                break
            base += 256
        offset = node ^ base
        assert offset < 1 << 21
        label = units[node] & 0xFF
        units[node] = label | (0x100 if b"" in suffixes else 0) | (offset << 10)
        used.update(base ^ label for label in labels)
        for child in labels:
            at = base ^ child
            if child == 0 and b"" in suffixes:
                units[at] = suffixes[b""] | 0x80000000
                continue
            units[at] = child
            place(at, {key[1:]: value for key, value in suffixes.items() if key[:1] == bytes([child])})

    blob, offsets = b"", {}
    for key, value in mapping.items():
        offsets[key.encode()] = len(blob)
        blob += value.encode() + b"\0"
    place(0, offsets)
    trie = struct.pack(f"<{len(units)}I", *units)
    data = struct.pack("<I", len(trie)) + trie + blob
    return base64.b64encode(data).decode()


def precompiled(mapping):
    return normalizers.Precompiled(base64.b64decode(charsmap(mapping)))


def grapheme_classes():
    """Per code point (class name, conjunct name) of the library's grapheme cluster rules, seen
    through Precompiled, which replaces a cluster of at most five bytes whole and the characters of
    a longer one singly. Regional indicators (4 bytes) can therefore not be seen and do not matter.
    """
    accent = "\u0301"

    def no_boundary(base, before):
        """Code points c for which before(c) + base has no cluster boundary before base: base +
        accent is then no cluster of its own, and keeps its accent."""
        items = [c for c in CODE_POINTS if c != 0x0A]
        texts = map_each(precompiled({base: "X"}), [before(chr(c)) + base + accent for c in items])
        return {c for c, text in zip(items, texts) if text.endswith(accent)}

    items = [c for c in CODE_POINTS if c != 0x0A]
    after_a = map_each(precompiled({"a": "X"}), ["a" + chr(c) for c in items])
    attached = {c for c, text in zip(items, after_a) if text == "X"}
    before_mark = map_each(precompiled({accent: "X"}), [chr(c) + accent + "\u0302" for c in items])
    control = {c for c, text in zip(items, before_mark)
               if not text.endswith("\u0302")} | {0x0A}
    zwj, copyright_sign, ka, virama = "\u200D", "\u00A9", "\u0915", "\u094D"
    prepend = no_boundary("a", lambda c: c)
    pictographic = no_boundary(copyright_sign, lambda c: c + zwj)
    joiner = no_boundary(copyright_sign, lambda c: copyright_sign + c) - prepend
    extend = no_boundary(copyright_sign, lambda c: copyright_sign + c + zwj) & attached
    before = {name: no_boundary(base, lambda c: c) - prepend
              for name, base in (("L", "\u1100"), ("V", "\u1161"), ("T", "\u11A8"))}
    consonant = no_boundary(ka, lambda c: c + virama)
    linker = no_boundary(ka, lambda c: ka + c) - prepend
    conjunct_extend = no_boundary(ka, lambda c: ka + virama + c) - prepend - linker

    classes = {}
    for c in CODE_POINTS:
        features = [name for name, found in (
            ("Control", control), ("Prepend", prepend), ("Pictographic", pictographic)) if c in found]
        if c in attached:
            features.append("Joiner" if c in joiner else "Extend" if c in extend else "SpacingMark")
        hangul = tuple(name for name in "LVT" if c in before[name])
        syllable = 0xAC00 <= c < 0xD7A4
        name = {(): None, ("L", "V"): "HangulL", ("V", "T"): "HangulLV" if syllable else "HangulV",
                ("T",): "HangulLVT" if syllable else "HangulT"}[hangul]
        if name:
            features.append(name)
        if c in pictographic and c in attached:
            features.remove("Pictographic")
        assert len(features) <= 1, (hex(c), features)
        conjunct = [name for name, found in (("Consonant", consonant), ("Linker", linker),
                                             ("Extend", conjunct_extend)) if c in found]
        assert len(conjunct) <= 1, (hex(c), conjunct)
        classes[c] = (features[0] if features else "Other", conjunct[0] if conjunct else "None")
    return classes
