"""Writes tests/golden/texts.jsonl: the texts that real models are compared on."""

from __future__ import annotations

import json

from common import GOLDEN_DIR, write_if_changed

# The first 20 are the queries of the ranking check: sentences with clear neighbours below them.
QUERIES = [
    "How do I reset the password of my account?",
    "The recipe needs two eggs, flour and a pinch of salt.",
    "Glaciers in the Alps have been shrinking for a century.",
    "The striker scored twice in the last ten minutes of the match.",
    "Our train to Lisbon was cancelled because of the storm.",
    "What is the boiling point of water at high altitude?",
    "She adopted a small grey kitten from the shelter.",
    "The central bank raised interest rates by half a point.",
    "A binary search halves the remaining range at every step.",
    "The orchestra tuned its instruments before the concert.",
    "Patients with a fever above 39 degrees should see a doctor.",
    "The telescope photographed a galaxy twelve billion light years away.",
    "He repaired the bicycle's flat tyre by the side of the road.",
    "Tomatoes grow best in full sun with regular watering.",
    "The museum opens at nine and closes at half past five.",
    "Parliament will vote on the new housing law on Thursday.",
    "The battery of my laptop lasts only two hours.",
    "Bees carry pollen from one flower to the next.",
    "The novel tells the story of three sisters during the war.",
    "Please send the signed contract before the end of the month.",
]

NEIGHBOURS = [
    "I forgot my login credentials and cannot sign in.",
    "Click the link in the e-mail to choose a new password.",
    "Beat the eggs, then fold in the flour and the salt.",
    "A simple cake batter is made of flour, sugar, butter and eggs.",
    "Warm summers are melting the ice in the mountains.",
    "The Aletsch glacier lost several metres of thickness last year.",
    "Two late goals decided the football game.",
    "The goalkeeper could not stop the penalty kick.",
    "All trains were stopped after trees fell on the tracks.",
    "Flights to Portugal are delayed by heavy winds.",
    "Water boils at a lower temperature on top of a mountain.",
    "At sea level, water starts to boil at 100 degrees Celsius.",
    "The cat from the animal shelter sleeps on the sofa all day.",
    "Puppies need several short walks a day.",
    "Inflation slowed after the increase of the key interest rate.",
    "Mortgage payments rise when the bank makes loans dearer.",
    "Sorting the list first lets you look up items in logarithmic time.",
    "Quicksort splits the array around a pivot element.",
    "The violins and the cellos played the opening bars.",
    "The choir sang the final movement of the symphony.",
    "Rest and plenty of water help against a high temperature.",
    "The doctor prescribed antibiotics for the infection.",
    "Astronomers observed a distant galaxy with a new camera.",
    "The space probe sent back pictures of Saturn's rings.",
    "To fix a puncture, remove the inner tube and patch the hole.",
    "The mechanic replaced the chain and the brakes of the bike.",
    "Water your vegetable garden early in the morning.",
    "Peppers and tomatoes like warm soil.",
    "Opening hours of the gallery: 9:00 to 17:30, closed on Mondays.",
    "The exhibition of ancient coins runs until March.",
    "The law on rents passed with a narrow majority.",
    "Members of parliament debated the budget all night.",
    "My phone has to be charged twice a day.",
    "Replace the notebook's accumulator when it no longer holds a charge.",
    "Insects that visit blossoms help fruit trees to bear fruit.",
    "Honey is made from the nectar of flowers.",
    "A family saga set between 1939 and 1945.",
    "The book won a prize for historical fiction.",
    "The agreement must be signed by the thirtieth.",
    "Kindly return the completed form by Friday.",
]

LANGUAGES = [
    "Der schnelle braune Fuchs springt über den faulen Hund.",
    "Die Straße ist naß, weil es gestern heftig geregnet hat.",
    "Le petit café au coin de la rue est fermé aujourd'hui.",
    "L'été dernier, nous avons traversé les Pyrénées à pied.",
    "El niño pequeño comió una manzana en el jardín.",
    "¿Dónde está la estación de autobuses más cercana?",
    "A praia fica a dez minutos a pé do hotel.",
    "Não há previsão de chuva para amanhã.",
    "Il treno per Milano parte dal binario cinque.",
    "De kat zit op de mat en kijkt naar buiten.",
    "Kissan viikset olivat märät sateen jälkeen.",
    "Fjorden var dekket av tåke hele morgenen.",
    "Smørrebrød på rugbrød er en dansk klassiker.",
    "Zażółć gęślą jaźń, powiedział uśmiechnięty nauczyciel.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Árvíztűrő tükörfúrógép – ez egy magyar mondat.",
    "Çocuklar İstanbul'da ılık bir günde dışarıda oynadı.",
    "Tất cả mọi người sinh ra đều được tự do.",
    "Быстрая коричневая лиса перепрыгнула через ленивую собаку.",
    "Поезд в Санкт-Петербург отправляется в полночь.",
    "Ґанок, їжак і щедрий ярмарок у Києві.",
    "Η γρήγορη καφέ αλεπού πηδάει πάνω από τον τεμπέλη σκύλο.",
    "Ὦ ξεῖν', ἀγγέλλειν Λακεδαιμονίοις",
    "השועל החום המהיר קופץ מעל הכלב העצלן.",
    "שָׁלוֹם עֲלֵיכֶם",
    "الثعلب البني السريع يقفز فوق الكلب الكسول.",
    "مَرْحَبًا بِكُمْ فِي الْمَدِينَةِ",
    "قیمت این کتاب ۱۲۳ تومان است.",
    "یہ ایک چھوٹا سا جملہ ہے۔",
    "तेज भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।",
    "দ্রুত বাদামী শিয়াল অলস কুকুরের উপর লাফ দেয়।",
    "விரைவான பழுப்பு நரி சோம்பேறி நாயின் மேல் குதிக்கிறது.",
    "నక్క కుక్క మీద నుంచి దూకింది",
    "ಕನ್ನಡ ಒಂದು ಸುಂದರ ಭಾಷೆ",
    "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ",
    "ໝາຈອກສີນ້ຳຕານ",
    "မြန်မာစာ စမ်းသပ်မှု",
    "ភាសាខ្មែរ",
    "敏捷的棕色狐狸跳过了懒狗。",
    "今天天气很好,我们去公园散步吧。",
    "臺灣的夜市有很多小吃。",
    "素早い茶色の狐はのろまな犬を飛び越える。",
    "カタカナとひらがなと漢字を混ぜた文です。",
    "ｶﾀｶﾅ ﾊﾝｶｸ ﾃｽﾄ",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다.",
    "한국어 띄어쓰기 테스트 문장",
    "한국어",
    "სწრაფი ყავისფერი მელა",
    "Արագ շագանակագույն աղվեսը",
    "ፈጣን ቡናማ ቀበሮ",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ",
    "བོད་སྐད་",
    "𐌲𐌿𐍄𐌹𐍃𐌺𐌰 𐍂𐌰𐌶𐌳𐌰",
    "𒀭𒂗𒆤 𒈗 𒆳𒆳𒊏",
    "𠀀𠀁𠀂 rare CJK extension characters 𪚥",
    "English mixed with русский, 中文, العربية and ไทย in one line.",
]

UNICODE = [
    "🙂", "😀😃😄😁", "I ❤️ pizza 🍕 and coffee ☕", "👨‍👩‍👧‍👦 family and 👩🏽‍💻 coder",
    "🏳️‍🌈 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪🇯🇵 flags", "👍🏻👍🏼👍🏽👍🏾👍🏿", "1️⃣ 2️⃣ #️⃣ keycaps",
    "Straße €5 🙂 한국어", "ＡＢＣ ① ﬁ ﬃ Ⅷ ㎏ ½", "Hyūga Shirō Ōsaka", "Hyu\u0304ga Shiro\u0304",
    "cafe\u0301 versus café", "a\u0301\u0302\u0303\u0304 stacked marks", "Z̷̢̛a̸l̴g̵o̶ t̸e̷x̴t̶",
    "\u0301 leading combining mark", "e\u0301a", "ÀÉÎÕÜ àéîõü ñç ÅØÆ åøæ ŁÞÐ łþð ŒŠŽ œšž",
    "İ ı ǅ ß ẞ ſ K Å", "ΑΣ ας ΣΑΣ final sigma", "ﷺ ﷽", "ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ",
    "zero\u200bwidth\u200cjoin\u200der \u2060word\ufeffjoiner", "soft\u00adhyphen", "\ufeffbyte order mark",
    "\u202eright to left override\u202c done", "\u2066isolate\u2069 \u200f rtl mark \u200e ltr mark",
    "non\u00a0breaking\u202fspaces\u2007and\u3000ideographic\u2003em", "line\u2028separator\u2029paragraph",
    "\ufffd replacement \ufffd", "private use \ue000 \uf8ff \U000f0000", "noncharacter \ufdd0 \uffff",
    "unassigned \u0378 \U000e0080", "\u0e33 \u0e40\u0e01", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ∧ √2 ≠ π",
    "H₂O and E = mc² and x⁻¹", "“curly” ‘quotes’ «guillemets» „low“ – — …", "¿¡§¶•·°©®™ ¢£¥€ ¬¦±×÷",
    "→ ⇒ ↔ ✓ ✗ ★ ☆ ♪ ♫ ☃ ☂", "─│┌┐└┘├┤┬┴┼ ▀▄█ ░▒▓", "⠓⠑⠇⠇⠕", "𝕳𝖊𝖑𝖑𝖔 𝓌ℴ𝓇𝓁𝒹 𝟙𝟚𝟛",
]

SPACES_AND_CONTROLS = [
    "", " ", "   ", "\n", "\t\t", "\r\n\r\n", "\u3000", "\u00a0\u00a0", "\u200b", " \n \t \r ",
    "  leading and trailing spaces  ", "a   b", "one\nline", "note\tbook", "carriage\rreturn",
    "para one\n\n\npara two\n\tindented\r\n", "nul\x00byte", "\x01\x02\x03", "bell\x07 and \x1b[31mred\x1b[0m",
    "delete\x7fchar", "c1\x85next\x9fline", "vertical\x0btab form\x0cfeed", "\x1c\x1d\x1e\x1f separators",
    "tab\tseparated\tvalues\t1\t2\t3", "ends with newline\n",
]

CODE_AND_NUMBERS = [
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }",
    "def f(x: int) -> str:\n    return f\"{x!r:>10}\"\n",
    "SELECT name, COUNT(*) FROM users WHERE age >= 18 GROUP BY name;",
    "#include <vector>\ntemplate <class T> T&& fwd(T& t) noexcept;",
    "<div class=\"a b\" id='x'>&nbsp;&amp;</div>",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"\\u00e9\"}}",
    "rm -rf ./build && cmake -S . -B build -DCMAKE_BUILD_TYPE=Release | tee log.txt",
    "^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$", "C:\\Users\\name\\Documents\\file.txt",
    "https://example.com/a/b?c=d&e=%20f#g-h_i", "http://[2001:db8::1]:8080/~user/index.html",
    "mail me at first.last+tag@sub.example.org", "snake_case camelCase PascalCase kebab-case SCREAMING_CASE",
    "0", "42", "-17", "3.14159265358979", "1,234,567.89", "1e-12", "0x1F600", "2024-02-29T23:59:60Z",
    "+49 (0)30 1234567", "12345678901234567890123456789012345678901234567890", "50% of $1.50 = 75¢",
    "IV + VI = X", "v1.2.3-rc.4+build.5", "1/2 3/4 5/8", "१२३ ٤٥٦ ๗๘๙ 一二三",
    "!", "...", "?!?!?!", "----------", "(((())))", "!!!???...,,,;;;:::", "@#$%^&*()_+{}|:\"<>?~`-=[]\\;',./",
    "a.b.c.d", "don't can't won't it's rock'n'roll", "e.g. i.e. etc. Mr. Dr. U.S.A.",
    "[CLS] special [SEP] tokens [PAD] in [UNK] text [MASK]", "[cls] [sep]", "<s> </s> <pad> <unk> <mask>",
    "##ing ##s", "a", "I", "the", "The THE tHe", "x" * 99, "x" * 100, "x" * 101, "é" * 101,
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "abcdefghij" * 30, "word" + "!" * 150, "😀" * 120, "字" * 130,
    "The same text twice.", "The same text twice.", "the same text twice.",
]


def long_texts() -> list[str]:
    """Texts around and over the limits of 128, 256 and 512 tokens."""
    sentence = "The river flows slowly through the old town and under three stone bridges. "
    mixed = "Été über naïve façade; Привет мир, 你好世界, 12,345 items — «done»! "
    out = ["hello " * n for n in (125, 126, 127, 130, 200, 253, 254, 255, 256, 300, 510, 520)]
    out += [sentence * 9, sentence * 19, sentence * 40, mixed * 6, mixed * 30]
    prefix = "alpha beta gamma delta " * 150
    out += [prefix + "ending one", prefix + "a different ending"]
    out += ["supercalifragilistic" * 4 + " " + "un" * 45 + " ", "z" * 5000, "a " * 700, "\n".join(["line"] * 280)]
    return out


def all_texts() -> list[str]:
    groups = [QUERIES, NEIGHBOURS, LANGUAGES, UNICODE, SPACES_AND_CONTROLS, CODE_AND_NUMBERS]
    return [text for group in groups for text in group] + long_texts()


def main() -> None:
    texts = all_texts()
    data = "".join(json.dumps({"text": text}, ensure_ascii=True) + "\n" for text in texts)
    write_if_changed(GOLDEN_DIR / "texts.jsonl", data.encode())
    print(f"{len(texts)} texts")


if __name__ == "__main__":
    main()
