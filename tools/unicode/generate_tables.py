#!/usr/bin/env python3
"""Generates src/text/unicode/*_data.cc by asking the installed `tokenizers` package.

    tools/unicode/generate_tables.py [OUTPUT_DIRECTORY]

Takes about five minutes. The version asked is written into the files; the pinned one is that of
tools/golden/requirements.txt.
"""

import pathlib
import sys

import tokenizers
from tokenizers import normalizers

import emit
import probe
import regex_names

VERSION = tokenizers.__version__
HANGUL = range(0xAC00, 0xD7A4)


def code_point_flags():
    """Bits in the order of CodePointFlag in code_point.h."""
    nfd, nfkd = (probe.decompositions(n()) for n in (normalizers.NFD, normalizers.NFKD))
    nfc, nfkc = (probe.decompositions(n()) for n in (normalizers.NFC, normalizers.NFKC))
    classes = probe.combining_classes()
    second = {b for _, b in probe.compositions()} | set(range(0x1161, 0x1176)) | set(
        range(0x11A8, 0x11C3))
    # Decomposing characters have no class of their own, but may start with one that has.
    nonstarters = set(classes) | {c for c, text in nfkd.items() if text[0] in classes}
    white_space = probe.white_space()
    assert probe.regex_space() == white_space
    sets = [
        white_space, probe.numeric(), probe.punctuation(), probe.regex_word(), probe.bert_dropped(),
        probe.bert_chinese(), probe.mark_nonspacing(), probe.combining_mark(),
        set(probe.lowercase()), set(nfd), set(nfkd), nonstarters,
        set(nfc) | second | nonstarters, set(nfkc) | second | nonstarters,
    ]
    flags = {}
    for bit, members in enumerate(sets):
        for c in members:
            flags[c] = flags.get(c, 0) | 1 << bit
    return flags


def emit_flags():
    flags = code_point_flags()
    combinations = sorted({0} | set(flags.values()))
    number = {value: i for i, value in enumerate(combinations)}
    body = emit.array("std::uint16_t", "kFlagSets", combinations)
    body += emit.array("std::uint32_t", "kFlagRuns",
                       emit.packed_runs({c: number[v] for c, v in flags.items()}))
    body += ("const FlagData& flag_data() {\n"
             "  static constexpr FlagData kData = {kFlagSets, kFlagRuns};\n  return kData;\n}\n\n")
    return body


def emit_lowercase():
    """Rules (first, last, stride, offset): every stride-th code point moves by offset."""
    mapping = probe.lowercase()
    special = {c: text for c, text in mapping.items() if len(text) != 1}
    # U+0130, the only one, becomes "i" and U+0307; code_point.cc spells it out.
    assert special == {0x130: (0x69, 0x307)}, special
    pending = sorted((c, text[0] - c) for c, text in mapping.items() if len(text) == 1)
    rules = []
    for c, offset in pending:
        for rule in rules[-4:]:
            first, last, stride, old = rule
            if old == offset and ((stride == 0 and c - last in (1, 2)) or c - last == stride):
                rule[1:3] = [c, c - last]
                break
        else:
            rules.append([c, c, 0, offset])
    rebuilt = {c: c + offset for first, last, stride, offset in rules
               for c in range(first, last + 1, stride or 1)}
    assert rebuilt == {c: c + offset for c, offset in pending}
    return emit.array("CaseRule", "kLowercaseRules", (
        f"{{0x{first:X}, 0x{last:X}, {stride or 1}, {offset}}}"
        for first, last, stride, offset in rules))


def emit_normalization():
    nfd, nfkd = (probe.decompositions(n()) for n in (normalizers.NFD, normalizers.NFKD))
    probe.check_hangul()
    body = ""
    for name, mapping in (("Canonical", nfd),
                          ("Compatibility", {c: t for c, t in nfkd.items() if nfd.get(c) != t})):
        pool, index = [], []
        for c, text in sorted(mapping.items()):
            if c in HANGUL:
                continue
            index.append(f"0x{len(text) << 24 | c:X}")
            pool.extend(f"0x{x:X}" for x in text)
        body += emit.array("std::uint32_t", f"k{name}Index", index)
        body += emit.array("char32_t", f"k{name}Pool", pool)
    body += emit.array("CompositionEntry", "kCompositions", (
        f"{{0x{a:X}, 0x{b:X}, 0x{c:X}}}" for (a, b), c in sorted(probe.compositions().items())))
    classes = probe.combining_classes()
    body += emit.array("std::uint32_t", "kCombiningRuns", emit.packed_runs(classes))
    return body + (
        "const NormalizationData& normalization_data() {\n"
        "  static constexpr NormalizationData kData = {kCanonicalIndex, kCanonicalPool,\n"
        "                                              kCompatibilityIndex, kCompatibilityPool,\n"
        "                                              kCompositions, kCombiningRuns};\n"
        "  return kData;\n}\n\n")


GRAPHEME_CLASSES = ["Other", "Control", "Extend", "Joiner", "SpacingMark", "Prepend",
                    "Pictographic", "HangulL", "HangulV", "HangulT", "HangulLV", "HangulLVT"]
CONJUNCT_CLASSES = ["None", "Consonant", "Linker", "Extend"]


def emit_segmentation():
    graphemes = {c: GRAPHEME_CLASSES.index(name) | CONJUNCT_CLASSES.index(conjunct) << 4
                 for c, (name, conjunct) in probe.grapheme_classes().items()}
    # Hangul syllables alternate LV and 27 LVT; the reader computes them.
    for c in HANGUL:
        assert graphemes[c] == GRAPHEME_CLASSES.index("HangulLVT" if (c - 0xAC00) % 28 else
                                                      "HangulLV")
        graphemes[c] = GRAPHEME_CLASSES.index("HangulLVT")
    body = emit.array("std::uint32_t", "kGraphemeRuns", emit.packed_runs(graphemes))
    body += emit.array("std::uint32_t", "kScriptRuns", emit.packed_runs(probe.scripts()))
    return body + (
        "const SegmentationData& segmentation_data() {\n"
        "  static constexpr SegmentationData kData = {kGraphemeRuns, kScriptRuns};\n"
        "  return kData;\n}\n\n")


def emit_regex():
    categories = list(regex_names.CATEGORIES)
    category_of = {}
    for i, name in enumerate(categories):
        for c in probe.regex_class(f"\\p{{{name}}}"):
            assert c not in category_of
            category_of[c] = i
    assert len(category_of) == len(probe.CODE_POINTS)
    for name, long_name in regex_names.GROUPS.items():
        members = {"LC": ("Lu", "Ll", "Lt")}.get(name) or tuple(
            n for n in categories if n[0] == name)
        union = {c for c, i in category_of.items() if categories[i] in members}
        assert union == probe.regex_class(f"\\p{{{name}}}"), name
    script_of, script_names = {}, []
    for name in regex_names.SCRIPTS:
        members = probe.regex_class(f"\\p{{{name}}}")
        if members is None:
            print("the library has no script", name)
            continue
        script_names.append(name)
        for c in members:
            assert c not in script_of, (name, hex(c))
            script_of[c] = len(script_names)
    body = emit.array("std::uint32_t", "kCategoryRuns", emit.packed_runs(category_of))
    body += emit.array("std::uint32_t", "kRegexScriptRuns", emit.packed_runs(script_of))
    body += emit.array("std::string_view", "kRegexScriptNames", (f'"{n}"' for n in script_names))
    index, flat, begin_of = [], [], {}
    entries = {}
    for name in regex_names.POSIX:
        entries[name] = probe.regex_class(f"\\p{{{name}}}")
        bracket = probe.regex_class(f"[[:{name}:]]")
        if bracket != entries[name]:
            entries[f"[:{name}:]"] = bracket
    for name in regex_names.BINARY:
        entries[name] = probe.regex_class(f"\\p{{{name}}}")
    for name, members in entries.items():
        if members is None:
            print("the library has no property", name)
            continue
        spans = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in emit.ranges(members)]
        begin = begin_of.setdefault(tuple(spans), len(flat))  # equal sets share their ranges
        if begin == len(flat):
            flat.extend(spans)
        index.append(f'{{"{name}", {begin}, {len(spans)}}}')
    for escape, name in (("\\w", "word"), ("\\d", "digit"), ("\\s", "space"), ("\\h", "xdigit")):
        assert probe.regex_class(escape) == entries[name], name
        assert probe.regex_class(f"[{escape}]") == entries.get(f"[:{name}:]", entries[name]), name
    body += emit.array("PropertyEntry", "kProperties", index)
    body += emit.array("CodePointRange", "kPropertyRanges", flat)
    return body + (
        "const RegexData& regex_data() {\n"
        "  static constexpr RegexData kData = {kCategoryRuns, kRegexScriptRuns, kRegexScriptNames,\n"
        "                                      kProperties, kPropertyRanges};\n"
        "  return kData;\n}\n\n")


def emit_case_closure():
    closure, multiple = probe.case_closure()
    pairs = [f"{{0x{c:X}, 0x{other:X}}}" for c, others in sorted(closure.items())
             for other in others]
    body = emit.array("CasePair", "kCasePairs", pairs)
    folds = []
    for c, text in sorted(multiple.items()):
        padded = list(text) + [0] * (3 - len(text))
        folds.append(f"{{0x{c:X}, {{" + ", ".join(f"0x{x:X}" for x in padded) + "}}")
    body += emit.array("MultipleFold", "kMultipleFolds", folds)
    return body + (
        "const CaseData& case_data() {\n"
        "  static constexpr CaseData kData = {kCasePairs, kMultipleFolds};\n  return kData;\n}\n\n")


def main():
    root = pathlib.Path(__file__).resolve().parents[2] / "src/text/unicode"
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root
    include = "text/unicode/tables.h"
    jobs = {
        "code_point_data.cc": lambda: emit_flags() + emit_lowercase() + (
            "std::span<const CaseRule> lowercase_rules() { return kLowercaseRules; }\n\n"),
        "normalization_data.cc": emit_normalization,
        "segmentation_data.cc": emit_segmentation,
        "regex_data.cc": emit_regex,
        "case_data.cc": emit_case_closure,
    }
    only = sys.argv[2:]
    for name, job in jobs.items():
        if not only or name in only:
            emit.write(out / name, include, job(), VERSION)


if __name__ == "__main__":
    main()
