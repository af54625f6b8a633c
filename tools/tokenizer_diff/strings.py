"""Adversarial strings for the differential tests: seeded, endless, every kind mixed in."""

import random
import unicodedata

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]

# Characters with a history of going wrong somewhere.
SPECIAL = list("\u0000\u0001\t\n\r\u000b\u000c\u001c\u001f \u007f\u0085\u00a0\u00ad\u0130\u0131\u0149"
               "\u01c4\u01c5\u01f0\u0344\u0345\u037e\u0387\u0390\u03a3\u03c2\u03c3\u0600\u061c\u06dd"
               "\u070f\u08e2\u0958\u0f73\u0f75\u0f81\u1160\u1100\u1161\u11a7\u11a8\u1680\u180e\u1e9e"
               "\u1f80\u1fb7\u2000\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202e\u202f\u205f\u2060"
               "\u2126\u212a\u212b\u2581\u2a6dc\u3000\u3099\u30fc\ua960\uac00\uac01\ud7a3\ud7b0\uf900"
               "\ufa0e\ufb01\ufb06\ufb1d\ufb2a\ufdfa\ufe0e\ufe0f\ufeff\uff21\uff9e\ufffc\ufffd\uffff"
               "\u00df\u017f\u0110\u00e9\u00c5\u00bd\u00b2\u2167\u0660\u0966\u4e00\u3042\u30a2\u00a9"
               "\u20ac\u0301\u0323\u0327\u0338\u0c4d\u094d\u0915\u0937") + [
    "\U00010400", "\U00011930", "\U00016ff0", "\U0001d165", "\U0001d15e", "\U0001d400", "\U0001f1e6",
    "\U0001f1e7", "\U0001f44d", "\U0001f3fd", "\U0001f468", "\U0001f469", "\U0001f467", "\U00020000",
    "\U0002f800", "\U00031350", "\U000e0001", "\U000e0020", "\U000e0100", "\U000f0000", "\U0010fffd"]

WORDS = """the quick brown Fox JUMPS over 13 lazy dogs' don't I'll we've they're it's THAT'S o'clock
can't 'S 'LL x86_64 C++ e-mail user@example.com https://example.org/a?b=c&d=1 3.14 1,000,000 $5.99
#tag @name [CLS] [MASK] <s> </s> <|endoftext|> naïve café Ångström déjà-vu Straße ŒUVRE İstanbul ISI
Привет мир Ελλάδα ΟΔΥΣΣΕΥΣ ὀδυσσεύς שלום עולם مرحبا بالعالم नमस्ते दुनिया हिन्दी ภาษาไทย 日本語
カタカナ ｶﾀｶﾅ ひらがな 中文字符 漢字 한국어 안녕하세요 Việt Nam tiếng ẞ ﬁne ﬂow ﬃ ½ ² ③ Ⅷ ㎏ ™ © … — “quoted”
‘single’ «guillemets» 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 ❤️ 1️⃣ ☺ a̐éö̲ ȩ́ x́̂ ž̧ _under_score__ --- !!! ... ?! ()[]{}
\\t \\n def foo(x): return x**2 // comment /* c */ <html> &amp; %20 0x1F 1e-9 v1.2.3""".split()

SPACES = [" ", "  ", "\n", "\n\n", "\r\n", "\t", " \n", "\u00a0", "\u3000", "   \n  ", "\u2028"]

EMOJI = ["\U0001f468", "\U0001f469", "\U0001f467", "\U0001f3fd", "\u200d", "\ufe0f", "\u2764",
         "\U0001f1e6", "\U0001f1ff", "\U0001f44d", "\u00a9", "\u20e3", "1", "\U000e0067"]
HANGUL = [chr(c) for r in ((0x1100, 0x1115), (0x1160, 0x1178), (0x11A6, 0x11C5), (0xAC00, 0xAC40),
                           (0xA960, 0xA964), (0xD7B0, 0xD7B4)) for c in range(*r)]
INDIC = [chr(c) for r in ((0x900, 0x980), (0xB80, 0xBFF), (0xE00, 0xE5C), (0x1000, 0x1050))
         for c in range(*r)] + ["\u200d", "\u200c"]


def by_category():
    table = {}
    for c in CODE_POINTS:
        table.setdefault(unicodedata.category(chr(c)), []).append(chr(c))
    return table


class Strings:
    """random strings; two with the same seed give the same."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.categories = by_category()
        self.category_names = sorted(self.categories)
        self.marks = self.categories["Mn"] + self.categories["Mc"] + self.categories["Me"]
        self.latin = [chr(c) for c in range(0x20, 0x250)]
        self.bmp = [chr(c) for c in CODE_POINTS if c < 0x10000]
        self.kinds = [self.sentence, self.sentence, self.any_category, self.one_category,
                      self.anywhere, self.bmp_only, self.combining, self.emoji, self.special,
                      self.special_pairs, self.latin_only, self.hangul, self.indic, self.spaces,
                      self.long_word, self.ascii, self.nested]

    def next(self):
        return self.random.choice(self.kinds)()

    def pick(self, source, most):
        return "".join(self.random.choices(source, k=self.random.randint(1, most)))

    def sentence(self):
        parts = []
        for _ in range(self.random.randint(1, 12)):
            parts += [self.random.choice(WORDS),
                      " " if self.random.random() < 0.8 else self.random.choice(SPACES)]
        return "".join(parts[:-1] if self.random.random() < 0.7 else parts)

    def any_category(self):
        return "".join(self.random.choice(self.categories[self.random.choice(self.category_names)])
                       for _ in range(self.random.randint(1, 12)))

    def one_category(self):
        return self.pick(self.categories[self.random.choice(self.category_names)], 10)

    def anywhere(self):
        return "".join(chr(self.random.choice(CODE_POINTS)) for _ in range(self.random.randint(1, 10)))

    def bmp_only(self):
        return self.pick(self.bmp, 12)

    def combining(self):
        text = ""
        for _ in range(self.random.randint(1, 4)):
            text += self.random.choice(self.random.choice([self.latin, self.bmp, SPECIAL]))
            text += "".join(self.random.choices(self.marks, k=self.random.randint(0, 5)))
        return text

    def emoji(self):
        return self.pick(EMOJI, 10)

    def special(self):
        return self.pick(SPECIAL, 10)

    def special_pairs(self):
        return "".join(self.random.choice(SPECIAL) + self.random.choice(self.latin)
                       for _ in range(self.random.randint(1, 6)))

    def latin_only(self):
        return self.pick(self.latin, 20)

    def hangul(self):
        return self.pick(HANGUL, 8)

    def indic(self):
        return self.pick(INDIC, 10)

    def spaces(self):
        return "".join(self.random.choice(SPACES + ["a", ".", "1", "\u00e9"])
                       for _ in range(self.random.randint(1, 12)))

    def long_word(self):
        return self.random.choice(self.random.choice([self.latin, SPECIAL, self.bmp])) * (
            self.random.choice([2, 3, 50, 120, 300]))

    def ascii(self):
        return "".join(chr(self.random.randrange(128)) for _ in range(self.random.randint(1, 40)))

    def nested(self):
        return "".join(self.random.choice(self.kinds[:-1])()
                       for _ in range(self.random.randint(2, 3)))
