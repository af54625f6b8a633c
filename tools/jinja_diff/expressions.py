"""Random expressions and templates, mostly well typed, for compare.py."""

import random

STRINGS = ["'Hello'", "'a,b,,c'", "''", "'  x y\\t'", "'ß Σ日🙂'", "'42'", "'-3.5'", "'it\\'s'", "'%s|%d'", "'{}-{}'", "s", "u",
           "lines", "'ab' 'cd'", "'<a&\"b\">'", "'aXbX'", "'\\u01c5 ΑΣ'", "'a\\r\\nb\\x0bc'", "'0x1F'", "' 7 '", "'e'", "'1e5'", "'inf'", "'1_0'"]
INTS = ["0", "1", "2", "3", "-1", "-7", "10", "100", "n", "neg", "0x1F", "true", "false"]
FLOATS = ["0.5", "2.5", "-1.25", "1e16", "1e-5", "0.1", "x", "3.0", "1e22", "-0.0", "123456.789"]
LISTS = ["list", "words", "mixed", "[]", "[1, 2, 3]", "['b', 'A', 'c']", "[[1, 2], [3]]", "(1, 'x')", "()", "range(4)", "people", "[0.5, 1, true]", "tree",
         "[none, 0, '']", "'abc' | list", "table.keys()", "table.items() | list", "[('a', 1), ('b', 2)]"]
DICTS = ["table", "{}", "{'k': 1, 'a': 'x'}", "people[0]", "{1: 'a', 2.5: 'b', none: 'c', true: 'd'}", "dict(a=1, b=[2])", "{'b': {'c': [1]}, 'a': none}"]
OTHER = ["none", "undefined_name", "nothing", "namespace(a=1, b='x')", "mixed[0]", "yes", "no", "big"]
ATTRIBUTES = ["a", "b", "name", "age", "items", "tags", "k", "0", "zz", "keys", "upper", "length", "pop", "append", "__class__", "_x", "count", "index"]
STRING_FILTERS = ["upper", "lower", "title", "capitalize", "trim", "trim('x ')", "replace('a', 'b')", "replace('', '-')", "replace('X', '', 1)", "length", "count", "wordcount",
                  "escape", "e", "center(9)", "center(10)", "indent", "indent(2, true)", "indent('>>', blank=true)", "truncate(3)", "truncate(5, true, '..', 0)", "truncate(4, leeway=0)", "urlencode", "string", "safe",
                  "int", "int(9)", "int(base=16)", "int(0, 0)", "float", "float(1.5)", "list", "reverse", "first", "last", "default('d')", "d('e', true)", "tojson", "tojson(ensure_ascii=true)", "forceescape",
                  "sort", "unique | list", "join('-')", "min", "max", "format(1, 2)", "format('p')", "batch(2) | list", "slice(2) | list", "map('upper') | list", "select('in', 'abc') | list", "groupby(0)"]
NUMBER_FILTERS = ["abs", "round", "round(1)", "round(2, 'ceil')", "round(1, 'floor')", "round(-1)", "int", "float", "string", "tojson", "default(3)", "d(4, true)", "round(method='ceil')", "length", "upper", "list"]
LIST_FILTERS = ["first", "last", "length", "count", "sort", "sort(true)", "sort(case_sensitive=true)", "sort(reverse=true)", "unique | list", "unique(true) | list", "reverse | list", "join", "join(', ')", "join('-', attribute='name')", "min", "max", "sum", "sum(start=1)", "list", "tojson", "tojson(indent=2)",
                "tojson(separators=(',', ':'))", "map('string') | list", "map('upper') | list", "map(attribute='name') | list", "map(attribute='name', default='?') | list", "map(attribute='0') | list", "select | list", "reject | list", "select('odd') | list", "reject('none') | list", "select('string') | list",
                "selectattr('name') | list", "selectattr('age', 'equalto', 36) | list", "rejectattr('age', 'none') | list", "selectattr('tags', 'defined') | list", "batch(2) | list", "batch(2, 'f') | list", "slice(2) | list", "slice(3, 0) | list", "groupby('name')", "groupby('age')", "groupby(0)", "groupby('name', default='q')", "sort(attribute='name')",
                "max(attribute='age')", "min(attribute='name')", "sum(attribute='age')", "dictsort", "items | list", "string", "default(1)", "map('length') | list", "map('default', 0, true) | list", "map('tojson') | join", "map('int') | sum", "first | string", "unique(attribute='name') | list", "urlencode"]
DICT_FILTERS = ["dictsort", "dictsort(true)", "dictsort(by='value')", "dictsort(reverse=true)", "items | list", "list", "length", "tojson", "tojson(indent=1)", "tojson(sort_keys=true)", "tojson(indent='\\t', ensure_ascii=true)", "string", "first", "last", "join", "sort", "attr('name')", "attr('items') is defined", "map('upper') | list", "urlencode", "reverse | list", "max", "sum"]
STRING_METHODS = ["upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "lstrip()", "rstrip()", "strip('a x')", "lstrip('H')", "rstrip('o')", "split()", "split(',')", "split('X')", "split(',', 1)", "rsplit(',', 1)", "split(none, 1)", "rsplit(none, 1)", "rsplit()", "splitlines()", "splitlines(true)", "startswith('H')", "startswith(('a', 'b'))", "startswith('e', 1)",
                  "endswith('o')", "endswith('c', 0, -1)", "find('b')", "find('')", "find('l', 3)", "rfind('l')", "rfind('', 1, 2)", "index('a')", "rindex('a')", "count('')", "count('a')", "count('l', 2, 9)", "replace('a', 'b')", "replace('', '.', 3)", "replace('a', 'b', -1)", "join(['x', 'y'])", "join('abc')", "isdigit()", "isalpha()", "isspace()", "islower()", "isupper()", "isalnum()", "istitle()", "isnumeric()", "isdecimal()", "isascii()", "isprintable()",
                  "removeprefix('He')", "removesuffix('c')", "zfill(6)", "partition(',')", "rpartition(',')", "center(8)", "center(7, '*')", "ljust(6, '.')", "rjust(6)", "expandtabs()", "expandtabs(3)", "format(1, 'b')", "format()", "length", "encode_nope"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true", "false", "mapping", "sequence", "iterable", "callable", "odd", "even", "lower", "upper", "divisibleby 3", "divisibleby(2)", "eq 1", "ne('a')", "in [1, 'a']", "in('abc')", "gt 1", "le(2)", "sameas none", "equalto(1)", "not none", "not string", "filter", "escaped", "lessthan 2"]
FORMATS = ["'%d'", "'%5d'", "'%-5d|'", "'%05d'", "'%+d'", "'% d'", "'%x'", "'%#o'", "'%.2f'", "'%8.3f'", "'%e'", "'%g'", "'%.3g'", "'%G'", "'%s'", "'%r'", "'%.2s'", "'%5s'", "'%c'", "'%%'", "'%i%%'", "'%#x'", "'%08.2f'", "'%.0f'", "'%#.3g'", "'%.10d'"]
BRACES = ["'{}'", "'{:d}'", "'{:5}|'", "'{:<5}|'", "'{:^7}|'", "'{:>5}'", "'{:05}'", "'{:+}'", "'{:.2f}'", "'{:e}'", "'{:g}'", "'{:,}'", "'{:x}'", "'{:#b}'", "'{:%}'", "'{!r}'", "'{:*^9}'", "'{:.3}'", "'{:n}'", "'{:_}'", "'{: }'", "'{0}{0}'", "'{:=+6}'", "'{:#x}'", "'{:o}'", "'{:G}'", "'{:10.1f}'"]
SPLITTERS = ['split()', 'splitlines()', "partition('a')"]
BLOCK_FILTERS = ['upper', 'trim', "replace('x', 'y')", 'indent']


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, items):
        return self.random.choice(items)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def any(self, depth: int) -> str:
        kind = self.random.choices(
            [self.string, self.number, self.list, self.dict, self.boolean, self.other], [5, 4, 5, 2, 3, 1])[0]
        return kind(depth)

    def other(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.5):
            return self.one(OTHER)
        return self.one([
            lambda: f"({self.any(depth - 1)}).{self.one(ATTRIBUTES)}",
            lambda: f"({self.any(depth - 1)})[{self.any(depth - 1)}]",
            lambda: f"({self.any(depth - 1)})[{self.slice()}]",
            lambda: f"({self.any(depth - 1)} {self.one(['or', 'and'])} {self.any(depth - 1)})",
            lambda: f"({self.any(depth - 1)} if {self.boolean(depth - 1)} else {self.any(depth - 1)})",
            lambda: f"({self.any(depth - 1)} if {self.boolean(depth - 1)})",
            lambda: f"({self.any(depth - 1)}) | {self.one(STRING_FILTERS + LIST_FILTERS + DICT_FILTERS + NUMBER_FILTERS)}",
            lambda: f"({self.any(depth - 1)} {self.one(['+', '-', '*', '/', '//', '%'])} {self.any(depth - 1)})",
        ])()

    def slice(self) -> str:
        bounds = ["", "0", "1", "-1", "2", "-2", "5", "none", "-9", "100"]
        text = f"{self.one(bounds)}:{self.one(bounds)}"
        return text + f":{self.one(['', '1', '-1', '2', '-2', '3'])}" if self.chance(0.5) else text

    def string(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.one(STRINGS)
        return self.one([
            lambda: f"({self.string(depth - 1)} ~ {self.any(depth - 1)})",
            lambda: f"({self.string(depth - 1)} + {self.string(depth - 1)})",
            lambda: f"({self.string(depth - 1)} * {self.one(['0', '1', '2', '3'])})",
            lambda: f"({self.string(depth - 1)}) | {self.one(STRING_FILTERS)}",
            lambda: f"({self.string(depth - 1)}).{self.one(STRING_METHODS)}",
            lambda: f"({self.string(depth - 1)})[{self.slice()}]",
            lambda: f"({self.one(FORMATS)} % {self.one(INTS + FLOATS + STRINGS[:4])})",
            lambda: f"({self.one(FORMATS)} % ({self.any(depth - 1)}))",
            lambda: f"{self.one(BRACES)}.format({self.one(INTS + FLOATS + STRINGS)})",
            lambda: f"({self.any(depth - 1)}) | string",
        ])()

    def number(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.one(INTS + FLOATS)
        return self.one([
            lambda: f"({self.number(depth - 1)} {self.one(['+', '-', '*', '/', '//', '%'])} {self.number(depth - 1)})",
            lambda: f"({self.one(INTS + FLOATS)} ** {self.one(['0', '1', '2', '3', '-1', '0.5'])})",
            lambda: f"(-{self.number(depth - 1)})",
            lambda: f"({self.number(depth - 1)}) | {self.one(NUMBER_FILTERS)}",
            lambda: f"({self.any(depth - 1)}) | length",
        ])()

    def list(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.one(LISTS)
        return self.one([
            lambda: f"[{self.any(depth - 1)}, {self.any(depth - 1)}]",
            lambda: f"({self.any(depth - 1)}, {self.any(depth - 1)})",
            lambda: f"({self.list(depth - 1)} + {self.list(depth - 1)})",
            lambda: f"({self.list(depth - 1)} * 2)",
            lambda: f"({self.list(depth - 1)}) | {self.one(LIST_FILTERS)}",
            lambda: f"({self.list(depth - 1)}) | {self.one(LIST_FILTERS)}",
            lambda: f"({self.list(depth - 1)})[{self.slice()}]",
            lambda: f"({self.string(depth - 1)}).{self.one(SPLITTERS)}",
            lambda: f"range({self.one(['3', '1, 4', '5, 0, -2', '0', 'n'])})",
            lambda: f"({self.dict(depth - 1)}).{self.one(['items()', 'keys()', 'values()'])}",
        ])()

    def dict(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.4):
            return self.one(DICTS)
        return self.one([
            lambda: f"{{{self.any(depth - 1)}: {self.any(depth - 1)}, {self.string(0)}: {self.any(depth - 1)}}}",
            lambda: f"({self.dict(depth - 1)}) | {self.one(DICT_FILTERS)}",
            lambda: f"dict({self.one(DICTS)}, z={self.any(depth - 1)})",
            lambda: f"({self.dict(depth - 1)}).get({self.any(depth - 1)}, {self.any(0)})",
        ])()

    def boolean(self, depth: int) -> str:
        if depth <= 0:
            return self.one(["yes", "no", "true", "not no"])
        compare = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
        return self.one([
            lambda: f"({self.any(depth - 1)}) is {self.one(TESTS)}",
            lambda: f"({self.any(depth - 1)} {self.one(compare)} {self.any(depth - 1)})",
            lambda: f"({self.number(depth - 1)} {self.one(compare[:6])} {self.number(depth - 1)} {self.one(compare[:6])} {self.number(depth - 1)})",
            lambda: f"({self.string(depth - 1)} {self.one(compare)} {self.string(depth - 1)})",
            lambda: f"({self.any(depth - 1)} in {self.list(depth - 1)})",
            lambda: f"(not {self.any(depth - 1)})",
        ])()

    def text(self) -> str:
        return self.one(["\n", " ", "x", "\n\n", "  \n  ", "\t", "é", "a b", "}", "{", "%}", "\r\n", "}}", "\n  "])

    def tag(self, inside: str) -> str:
        return f"{{%{self.one(['', '', '-', '+'])} {inside} {self.one(['', '', '-', '+'])}%}}"

    def block(self, depth: int) -> str:
        return "".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))

    def statement(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.3):
            return self.text()
        d = depth - 1
        name = self.one(["q", "w", "ns.v", "list", "n", "words", "s"])
        return self.one([
            lambda: f"{{{{{self.one(['', '- ', ''])}{self.any(2)}{self.one(['', ' -'])}}}}}",
            lambda: f"{self.tag('if ' + self.boolean(2))}{self.block(d)}{self.tag('else')}{self.block(d)}{self.tag('endif')}",
            lambda: f"{self.tag('for i in ' + self.list(1))}{{{{ loop.index }}}}{{{{ i }}}}{self.block(d)}{self.tag('endfor')}",
            lambda: f"{self.tag('for i in ' + self.list(1) + ' if ' + self.one(['i', 'i is string', 'i is defined']))}{{{{ loop.last }}}}{self.block(d)}{self.tag('else')}{self.text()}{self.tag('endfor')}",
            lambda: f"{self.tag('for k, v in (' + self.dict(1) + ').items()')}{{{{ k }}}}{self.block(d)}{{% if loop.index > 1 %}}{self.tag(self.one(['break', 'continue']))}{{% endif %}}{{{{ v }}}}{self.tag('endfor')}",
            lambda: f"{self.tag('set ' + name + ' = ' + self.any(2))}{{{{ q }}}}{{{{ w }}}}{{{{ ns.v }}}}",
            lambda: f"{self.tag('set ' + name)}{self.block(d)}{self.tag('endset')}[{{{{ {name} }}}}]",
            lambda: f"{self.tag('filter ' + self.one(BLOCK_FILTERS))}{self.block(d)}{self.tag('endfilter')}",
            lambda: f"{self.tag('with q = ' + self.any(1))}{self.block(d)}{{{{ q }}}}{self.tag('endwith')}{{{{ q }}}}",
            lambda: f"{self.tag('macro m(a, b=' + self.any(1) + ')')}{{{{ a }}}}{{{{ b }}}}{self.block(d)}{self.tag('endmacro')}{{{{ m({self.any(1)}) }}}}{{{{ m(b=1) }}}}",
            lambda: f"{self.tag('if ' + self.boolean(1))}{self.tag('set ' + name + ' = ' + self.any(1))}{self.tag('elif ' + self.boolean(1))}{self.block(d)}{self.tag('endif')}{{{{ {name} }}}}",
            lambda: f"{self.tag('for list in ' + self.list(1) + ' recursive')}{{{{ n }}}}{self.block(d)}{{{{ loop([]) if loop.first }}}}{{{{ loop.depth }}}}{self.tag('endfor')}",
            lambda: f"{self.tag('macro f(n)')}{{{{ caller(n) if caller }}}}{{{{ words }}}}{self.tag('endmacro')}{self.tag('call(w) f(' + self.any(1) + ')')}{{{{ w }}}}{{{{ s }}}}{self.block(d)}{self.tag('endcall')}",
            lambda: f"{{{{ q }}}}{{{{ w }}}}{{{{ list }}}}{{{{ n }}}}{{{{ words }}}}{{{{ s }}}}",
            lambda: f"{self.tag('raw')}{{{{ {self.text()} }}}}{self.tag('endraw')}",
            lambda: f"{{#{self.one(['', '-'])} c {self.text()} {self.one(['', '-'])}#}}",
            lambda: f"{self.tag('generation')}{self.block(d)}{self.tag('endgeneration')}",
        ])()

    def template(self) -> str:
        if self.chance(0.7):
            return "{{ " + self.any(self.random.randint(1, 4)) + " }}"
        return "{% set ns = namespace(v=0) %}" + self.block(3)
