"""The pipelines that the differential tests and the golden files run: every component by itself,
with every option, and the combinations that models use."""


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
