"""The pipelines that the differential tests and the golden files run: every component by itself,
with every option, and the combinations that models use."""

import charsmaps


def normalizer(**part):
    return {"normalizer": part}


def pre_tokenizer(**part):
    return {"pre_tokenizer": part}


def bert(clean, chinese, accents, lower):
    return dict(type="BertNormalizer", clean_text=clean, handle_chinese_chars=chinese,
                strip_accents=accents, lowercase=lower)


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]

PIPELINES = {}
for _name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"):
    PIPELINES[f"normalizer {_name}"] = normalizer(type=_name)
for _clean, _chinese, _accents, _lower in (
        (1, 1, None, 1), (1, 1, None, 0), (1, 1, False, 1), (1, 1, True, 0), (0, 1, True, 1),
        (1, 0, True, 1), (0, 0, True, 0), (0, 0, False, 1)):
    PIPELINES[f"normalizer Bert {_clean}{_chinese}{_accents}{_lower}"] = {
        "normalizer": bert(bool(_clean), bool(_chinese), _accents, bool(_lower))}
for _left, _right in ((True, True), (True, False), (False, True)):
    PIPELINES[f"normalizer Strip {_left} {_right}"] = normalizer(
        type="Strip", strip_left=_left, strip_right=_right)
PIPELINES["normalizer Prepend"] = normalizer(type="Prepend", prepend="\u2581x")
PIPELINES["normalizer Sequence"] = normalizer(type="Sequence", normalizers=[
    dict(type="NFKC"), dict(type="Lowercase"), dict(type="NFD"), dict(type="StripAccents"),
    dict(type="Strip", strip_left=True, strip_right=True), dict(type="Prepend", prepend="\u2581"),
    dict(type="NFC")])

for _name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"):
    PIPELINES[f"pre_tokenizer {_name}"] = pre_tokenizer(type=_name)
for _behavior in BEHAVIORS:
    PIPELINES[f"pre_tokenizer Punctuation {_behavior}"] = pre_tokenizer(
        type="Punctuation", behavior=_behavior)
for _individual in (True, False):
    PIPELINES[f"pre_tokenizer Digits {_individual}"] = pre_tokenizer(
        type="Digits", individual_digits=_individual)
for _scheme in ("always", "never", "first"):
    for _split in (True, False):
        PIPELINES[f"pre_tokenizer Metaspace {_scheme} {_split}"] = pre_tokenizer(
            type="Metaspace", replacement="\u2581", prepend_scheme=_scheme, split=_split)
PIPELINES["pre_tokenizer CharDelimiterSplit"] = pre_tokenizer(
    type="CharDelimiterSplit", delimiter="e")
PIPELINES["pre_tokenizer FixedLength"] = pre_tokenizer(type="FixedLength", length=3)
PIPELINES["pre_tokenizer Sequence"] = pre_tokenizer(type="Sequence", pretokenizers=[
    dict(type="WhitespaceSplit"), dict(type="Punctuation", behavior="MergedWithNext"),
    dict(type="Metaspace", replacement="_", prepend_scheme="first"),
    dict(type="Digits", individual_digits=True), dict(type="UnicodeScripts")])

PIPELINES["model BERT uncased"] = {"normalizer": bert(True, True, None, True),
                                   "pre_tokenizer": dict(type="BertPreTokenizer")}
PIPELINES["model BERT cased"] = {"normalizer": bert(True, True, None, False),
                                 "pre_tokenizer": dict(type="BertPreTokenizer")}
PIPELINES["model Nmt Metaspace"] = {
    "normalizer": dict(type="Sequence", normalizers=[dict(type="Nmt"), dict(type="NFKC")]),
    "pre_tokenizer": dict(type="Sequence", pretokenizers=[
        dict(type="WhitespaceSplit"),
        dict(type="Metaspace", replacement="\u2581", prepend_scheme="always")])}


# --- regular expressions ------------------------------------------------------------------------

def split(regex, behavior="Isolated", invert=False):
    return pre_tokenizer(type="Split", pattern={"Regex": regex}, behavior=behavior, invert=invert)


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_TAIL}"
LLAMA3 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_TAIL}"
QWEN35 = (rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}|"
          r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
         rf"{_CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+"
         rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTIONS}?|\p{{N}}{{1,3}}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CL100K = (r"(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
          r"\s++$|\s*[\r\n]|\s+(?!\S)|\s")
DEEPSEEK = [r"[\r\n]", r"\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba]+",
            r"\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$",
            r"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff\uac00-\ud7a3]+"]

# One for every construct that the translator knows.
EXPRESSIONS = {
    "word": r"\w+|[^\w\s]+", "not word": r"\W+", "digits": r"\d{2,3}?", "hex": r"\h+|\H",
    "interval": r"a{1,3}+|e{2}?|.{,2}x", "lazy": r".+?e", "possessive": r"[a-z]*+|[A-Z]++.",
    "alternatives": r"(?:the|th|t)(?=e)|(?!o)\p{Ll}", "behind": r"(?<=[aeiou])\S|(?<!\s)[A-Z]",
    "atomic": r"(?>\s+|x)\S", "lines": r"^.|.$", "ends": r"\A\s*|\S+\z|\s+\Z",
    "boundary": r"\b", "no boundary": r"\B.", "dot all": r"(?m:.)\s", "newlines": r"\R|\N{3}|\O",
    "extended": "(?x) a | \\s+ # space\n | [ x]", "comment": r"e(?#comment)|o",
    "isolated": r"t(?i)h|E", "ignore case": r"(?i:the|[a-f]+|\u212a|i|\p{Lu})",
    "ignore case class": r"(?i:[^a-k]+)", "named": r"(?<word>\p{L}+)|(\d)",
    "classes": r"[\p{L}&&[^a-zA-Z]]+|[^\s\p{P}&&[^\-]]", "posix": r"[[:alpha:]]+|[[:^space:][:cntrl:]]",
    "posix punct": r"[[:punct:]]|\p{punct}", "brackets": r"[]\[-]|[^]a-]+|[+--]", "union": r"[a[bc]d-f]+",
    "escapes": r"\t|\x41|\x{301}|\u00e9|\.|\-|\/|[\b]", "scripts": r"\p{Han}+|\p{Cyrillic}|\p{Greek}|\p{Latin}{2}",
    "more scripts": r"[\p{Hiragana}\p{Katakana}]+|\p{^Arabic}|\P{Hangul}", "word class": r"[\w&&[^_]]+|[\W]",
    "categories": r"\p{Lu}|\p{Mn}+|\p{Nd}|\p{Zs}|\p{So}|\p{Cn}|\p{Letter_Number}|\p{Cf}",
    "groups": r"\p{M}+|\p{S}|\p{Z}+|\p{C}", "emoji": r"\p{Emoji_Presentation}|\p{Extended_Pictographic}",
    "empty": r"", "optional": r"x?|\s*", "case pairs": r"\p{Lowercase}+|\p{Uppercase}",
    "cased": r"\p{LC}+", "graph": r"[[:graph:]]+", "print": r"[[:print:]]+",
    "word property": r"\p{word}+|[\p{word}]",
}

for _name, _regex in (("GPT2", GPT2), ("QWEN2", QWEN2), ("QWEN35", QWEN35), ("LLAMA3", LLAMA3),
                      ("O200K", O200K), ("CL100K", CL100K)):
    PIPELINES[f"split {_name}"] = split(_regex)
    # The same expression in a form that no hand-written scanner knows.
    PIPELINES[f"split generic {_name}"] = split(f"(?:{_regex})")
for _behavior in BEHAVIORS:
    for _invert in (False, True):
        PIPELINES[f"split {_behavior} {_invert}"] = split(r"\s|e+|\p{P}", _behavior, _invert)
        PIPELINES[f"split empty {_behavior} {_invert}"] = split(r"(?=[eo])|x|\s*", _behavior, _invert)
for _name, _regex in EXPRESSIONS.items():
    PIPELINES[f"regex {_name}"] = split(_regex)
    PIPELINES[f"regex removed {_name}"] = split(_regex, "Removed", True)
for _name, _string in (("space", " "), ("th", "th"), ("empty", ""), ("special", ".*+")):
    PIPELINES[f"split string {_name}"] = pre_tokenizer(
        type="Split", pattern={"String": _string}, behavior="MergedWithPrevious", invert=False)
for _prefix in (True, False):
    for _regex in (True, False):
        PIPELINES[f"pre_tokenizer ByteLevel {_prefix} {_regex}"] = pre_tokenizer(
            type="ByteLevel", add_prefix_space=_prefix, trim_offsets=True, use_regex=_regex)
PIPELINES["model Qwen3"] = {
    "normalizer": dict(type="NFC"),
    "pre_tokenizer": dict(type="Sequence", pretokenizers=[
        split(QWEN2)["pre_tokenizer"],
        dict(type="ByteLevel", add_prefix_space=False, trim_offsets=False, use_regex=False)])}
PIPELINES["model DeepSeek"] = pre_tokenizer(type="Sequence", pretokenizers=[
    split(r)["pre_tokenizer"] for r in DEEPSEEK] + [
    dict(type="Digits", individual_digits=True),
    dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=False)])
PIPELINES["pre_tokenizer ByteLevel twice"] = pre_tokenizer(type="Sequence", pretokenizers=[
    dict(type="WhitespaceSplit"),
    dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
    dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=False),
    dict(type="Digits", individual_digits=False)])

# --- replacements -------------------------------------------------------------------------------

for _name, _pattern, _content in (
        ("spaces", {"Regex": r" {2,}"}, " "), ("metaspace", {"String": " "}, "\u2581"),
        ("quotes", {"String": "``"}, "\""), ("longer", {"Regex": r"[aeiou\p{Lo}]"}, "<v>"),
        ("nothing", {"Regex": r"\p{M}+|\s"}, ""), ("same size", {"Regex": "[a-y]"}, "z"),
        ("between", {"Regex": r"(?<=\w)(?=\w)"}, "\u00b7"), ("dollar", {"Regex": r"o"}, r"$0\1"),
        ("newline", {"String": "\n"}, " ")):
    PIPELINES[f"replace {_name}"] = normalizer(type="Replace", pattern=_pattern, content=_content)
PIPELINES["replace start"] = normalizer(type="Replace", pattern={"Regex": "^"}, content="> ")
PIPELINES["replace start then prepend"] = normalizer(type="Sequence", normalizers=[
    dict(type="Replace", pattern={"Regex": r"\A"}, content="\u2581\u2581"),
    dict(type="Prepend", prepend="x"), dict(type="Replace", pattern={"String": "x"}, content="")])
PIPELINES["model Llama 2"] = {
    "normalizer": dict(type="Sequence", normalizers=[
        dict(type="Prepend", prepend="\u2581"),
        dict(type="Replace", pattern={"String": " "}, content="\u2581")])}
PIPELINES["model ALBERT"] = {
    "normalizer": dict(type="Sequence", normalizers=[
        dict(type="Replace", pattern={"String": "``"}, content="\""),
        dict(type="Replace", pattern={"String": "''"}, content="\""),
        dict(type="NFKD"), dict(type="StripAccents"), dict(type="Lowercase")]),
    "pre_tokenizer": dict(type="Sequence", pretokenizers=[
        dict(type="WhitespaceSplit"),
        dict(type="Metaspace", replacement="\u2581", prepend_scheme="always")])}

# --- character maps -----------------------------------------------------------------------------

PIPELINES["precompiled small"] = normalizer(type="Precompiled", precompiled_charsmap=charsmaps.small())
PIPELINES["precompiled small then NFC"] = normalizer(type="Sequence", normalizers=[
    dict(type="Precompiled", precompiled_charsmap=charsmaps.small()), dict(type="NFC"),
    dict(type="Replace", pattern={"Regex": " {2,}"}, content=" ")])


def built_in_charsmap(rule):
    """Pipelines as XLM-RoBERTa's, with a map that SentencePiece builds in. Too large for goldens."""
    charsmap = dict(type="Precompiled", precompiled_charsmap=charsmaps.sentencepiece(rule))
    return {f"precompiled {rule}": {"normalizer": charsmap}, f"model XLM-R {rule}": {
        "normalizer": dict(type="Sequence", normalizers=[
            charsmap, dict(type="Replace", pattern={"Regex": " {2,}"}, content=" ")]),
        "pre_tokenizer": dict(type="Sequence", pretokenizers=[
            dict(type="WhitespaceSplit"),
            dict(type="Metaspace", replacement="\u2581", prepend_scheme="always")])}}
