"""Small templates, each about one feature of the language; rendered with jinja_contexts.LAB."""

FEATURES = {
    "whitespace": "a\n  {% if yes %}\n  b\n  {%- endif %}\n c {{- ' d ' -}}  \n e\n{%+ if yes %}f{% endif +%}\n g\n"
                  "  {# comment #}\nh{#- trimmed -#}   i\n\n   {% set q = 1 %}   \nj   {% set q = 2 %}\n{{ q }}\n\n",
    "whitespace-windows": "a\r\n{% if yes %}\r\nb\r\n{% endif %}\rc\r\n",
    "raw": "{% raw %}{{ not }} {% evaluated %} {# here #}{% endraw %}\n  {%- raw -%}  \n {{ x }} \n {%- endraw -%}  z",
    "comments": "a{# {{ x }} {% if %} #}b{#\nlines\n#}\nc{#-#}d",
    "literals": "{{ 1 }} {{ 1_000 }} {{ 0x1F }} {{ 0b11 }} {{ 0o17 }} {{ 1.5e3 }} {{ 2E-2 }} {{ 1_0.2_5 }} {{ true }} {{ None }} "
                "{{ 'a' \"b\" 'c' }} {{ 'tab\\t nl\\n \\x41 \\u00e9 \\U0001F642 \\101 \\q \\\\ \\'' }} {{ [1, 'x', (2,), ()] }} "
                "{{ {'a': 1, 2: [3], none: true,} }} {{ (1, 2) }} {{ 1, 2 }} {{ 'é' }}",
    "arithmetic": "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 / 2 }} {{ 6 / 3 }} {{ 2 ** 10 }} {{ 2 ** -1 }} "
                  "{{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ -n }} {{ +neg }} "
                  "{{ true + 1 }} {{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e15 }} {{ 123456789.123 }} {{ 0.0001 }} {{ 0.00001 }} {{ huge }} {{ tiny }} {{ big }} {{ big + 1.0 }} {{ -0.0 }}",
    "sequences": "{{ 'ab' * 3 }} {{ [1] * 2 + [2] }} {{ (1,) + (2,) }} {{ 2 * 'x' }} {{ 'a' + 'b' ~ 1 ~ none ~ [1] }} {{ 1 ~ 2 }} {{ 'x' * -1 }}|",
    "comparisons": "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 == true }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ (1, 2) == [1, 2] }} {{ 'a' != 'b' }} "
                   "{{ 2 in list }} {{ 5 not in list }} {{ 'ell' in s }} {{ 'a' in table }} {{ none == undefined_name }} {{ not 1 == 2 }} {{ {'a': 1} == {'a': 1.0} }}",
    "logic": "{{ 0 or 'x' }} {{ '' and 1 }}| {{ 1 and 2 or 3 }} {{ not none }} {{ not 'a' in s }} {{ [] or {} or 'end' }} {{ 'a' if no else 'b' if yes else 'c' }} "
             "[{{ 'x' if no }}] {{ (1 if yes) + 1 }} {{ undefined_name or 'fallback' }}",
    "subscripts": "{{ table.a }} {{ table['b'] }} {{ table.n.deep[1].x }} {{ list[0] }} {{ list[-1] }} {{ s[0] }} {{ u[-1] }} {{ u[7] }} {{ list.0 }} [{{ list[9] }}] [{{ table.missing }}] "
                  "[{{ s.missing }}] [{{ nothing.a }}] [{{ n.a }}] {{ table['items'] }} {{ table.items() | list | length }} {{ (1, 2)[true] }} [{{ list['a'] }}] [{{ table[list] }}]",
    "slices": "{{ s[1:4] }} {{ s[:-1] }} {{ s[::-1] }} {{ s[::2] }} {{ list[1:] }} {{ list[::-1] }} {{ u[2:9] }} {{ u[::-3] }} {{ s[100:] }}| {{ s[-3:] }} {{ (1,2,3)[:2] }} {{ list[5:1] }} {{ range(10)[2:8:3] }} {{ list[none:none] }}",
    "for": "{% for i in list %}{{ loop.index }}/{{ loop.length }}:{{ i }}{{ ',' if not loop.last }}{% endfor %} "
           "{% for k, v in table.items() %}{{ k }}={{ v }};{% endfor %} {% for k in table %}{{ k }}{% endfor %} {% for c in 'añb' %}[{{ c }}]{% endfor %} "
           "{% for i in [] %}x{% else %}none{% endfor %} {% for i in undefined_name %}x{% else %}nothing{% endfor %} {% for a, (b, c) in [(1, (2, 3))] %}{{ a + b + c }}{% endfor %}",
    "for-if": "{% for p in people if p.age %}{{ loop.index }}{{ p.name }}{{ loop.length }}{% else %}nobody{% endfor %} {% for i in range(6) if i is odd %}{{ i }}{{ loop.revindex }}{% endfor %} {% for i in list if i > 9 %}{% else %}none{% endfor %}",
    "loop": "{% for i in 'abcd' %}{{ loop.index0 }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('x', 'y') }}{{ loop.changed(i > 'b') }}{{ loop.depth }} {% endfor %}",
    "loop-control": "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %} "
                    "{% for i in list %}{% for j in list %}{% if j == 2 %}{% break %}{% endif %}{{ i }}{{ j }} {% endfor %}{% else %}no{% endfor %}",
    "loop-recursive": "{% for node in tree recursive %}{{ loop.depth }}{{ node.name }}{% if node.children %}({{ loop(node.children) }}){% endif %}{% endfor %}",
    "scopes": "{% set x = 1 %}{% for i in list %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }} {% if yes %}{% set x = 9 %}{% endif %}{{ x }} "
              "{% with x = 5, y = x %}{{ x }}{{ y }}{% set x = 6 %}{{ x }}{% endwith %}{{ x }} {% set a, b = 1, (2, 3) %}{{ a }}{{ b }} {% set (c, d) = 'xy' %}{{ d ~ c }}",
    "scopes-unset": "{% macro m() %}[{{ s }}]{% endmacro %}{% for i in [1] %}[{{ n }}{{ words }}]{% endfor %}{{ m() }}{% set n = 5 %}{% set s = 's' %}{{ n }}{{ m() }} {% if no %}{% set x = 1 %}{% endif %}{{ x }} {% for i in [1, 2] %}[{{ x }}{{ neg }}]{% set neg = i %}{% with %}{{ html }}{% endwith %}{% set html = 1 %}{% endfor %}{{ neg }}",
    "namespace": "{% set ns = namespace(a=1, b='x') %}{% for i in list %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}[{{ ns.c }}]{% set ns.c, z = 3, 4 %}{{ ns.c }}{{ z }} "
                 "{{ ns }} {{ ns['a'] }} {{ namespace({'q': 1}, r=2).q }} {{ ns is mapping }} {{ ns is defined }}",
    "set-block": "{% set t %}a{{ n }}b{% for i in list %}{{ i }}{% endfor %}{% endset %}{{ t | upper }} {% set t | trim | upper %}  xyz {% endset %}[{{ t }}] {% set ns = namespace() %}{% set ns.t %}in{% endset %}{{ ns.t }}",
    "filter-block": "{% filter upper %}abc {{ s }}{% endfilter %} {% filter replace('a', 'b') | trim %}  banana {% endfilter %}|",
    "macro": "{% macro m(a, b=2, c=a) %}[{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=5, a=4) }}{{ m(1, 2, 3, 4, 5, z=6) }}{{ m() }} "
             "{% macro simple(x) %}{{ x }}{% endmacro %}{{ simple('y') | upper }} {{ simple.name }} {{ simple.arguments }} {% set f = simple %}{{ f(3) }} {% macro outer() %}{{ n }}{{ late }}{% endmacro %}{% set late = 'L' %}{{ outer() }}",
    "macro-recursive": "{% macro fact(k) %}{% if k <= 1 %}1{% else %}{{ k * (fact(k - 1) | int) }}{% endif %}{% endmacro %}{{ fact(10) }}",
    "call-block": "{% macro wrap(tag) %}<{{ tag }}>{{ caller('arg', k=1) }}</{{ tag }}>{% endmacro %}{% call(x, k=0) wrap('b') %}{{ x }}{{ k }}{{ n }}{% endcall %} "
                  "{% macro maybe() %}{{ caller() if caller else 'alone' }}{% endmacro %}{{ maybe() }}{% call maybe() %}together{% endcall %}",
    "call-arguments": "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(*list, **{'k': 1}) }}{{ m(1, *'ab', z=2) }} {{ dict(a=1, **{'b': 2}) }} {{ dict([('x', 1)], y=2) }} {{ '{}-{}'.format(*list) }}",
    "generation": "{% set q = 1 %}{% generation %}{% set q = 2 %}{{ q }}{% endgeneration %}{{ q }} {% for i in list %}{%- generation -%} {{ loop.index }} {%- endgeneration -%}{% endfor %}",
    "print": "{% print s, n %}{% print 'x' | upper %}",
    "tests": "{% for v in [0, 1, 2.0, 'a', 'A', '', none, true, false, [], {}, (1,), undefined_name, range(2)] %}"
             "{{ [v is boolean, v is defined, v is undefined, v is none, v is integer, v is float, v is number, v is string, v is mapping, v is sequence, v is iterable, v is true, v is false, v is lower, v is upper, v is callable] | map('int') | join }} {% endfor %}",
    "tests-with-arguments": "{{ 10 is divisibleby 5 }} {{ 10 is divisibleby(3) }} {{ 3 is odd }} {{ 4 is even }} {{ 3 is eq 3 }} {{ 3 is ne 4 }} {{ 3 is lt 4 }} {{ 3 is ge(3) }} {{ 1 is in [1, 2] }} {{ 'x' is in 'xyz' }} "
                            "{{ none is sameas none }} {{ 1 is sameas true }} {{ 'upper' is filter }} {{ 'nope' is filter }} {{ 'odd' is test }} {{ 3 is not none }} {{ n is not divisibleby 2 and yes }} {{ raise_exception is callable }} {{ 2 is equalto 2 }}",
    "strings": "{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ 'aB'.swapcase() }} {{ s.capitalize() }} {{ s.startswith('He') }} {{ s.endswith(('x', 'ld')) }} {{ s.find('o') }} {{ s.rfind('o') }} {{ s.index('W') }} {{ s.count('l') }} "
               "{{ spaces.strip() }}|{{ spaces.lstrip() }}|{{ spaces.rstrip() }}| {{ 'xxaxx'.strip('x') }} {{ s.replace('l', 'L', 2) }} {{ 'a,b,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a  b '.split() }} {{ ' a  b c '.split(none, 1) }} "
               "{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ '-'.join(['a', 'b']) }} {{ 'abc'.removeprefix('a').removesuffix('c') }} {{ '42'.zfill(5) }} {{ '-4'.zfill(4) }} {{ 'k=v'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'ab'.center(7, '*') }} {{ 'a'.ljust(3) }}|{{ 'a'.rjust(3) }}",
    "string-questions": "{% for t in ['', 'a', 'A', 'aB', '1', 'a1', ' ', '½', '²', '٣', '日', 'Aa Bb', 'ǅ', 'é\\n'] %}{{ [t.isdigit(), t.isalpha(), t.isspace(), t.islower(), t.isupper(), t.isalnum(), t.isnumeric(), t.isdecimal(), t.istitle(), t.isascii(), t.isprintable()] | map('int') | join }} {% endfor %}",
    "unicode": "{{ u | length }} {{ u.upper() }} {{ u.lower() }} {{ u.title() }} {{ u | capitalize }} {{ u | list }} {{ u.find('日') }} {{ u | reverse }} {{ 'ﬁ İ ŉ ΑΣ. ΣΣ'.upper() }} {{ 'ﬁ İ ŉ ΑΣ. ΣΣ'.lower() }} {{ 'ﬁx ŉ'.title() }} {{ '\u2003x\u2003' | trim }} {{ 'é' < 'z' }} {{ '日本'.center(6, '*') }}",
    "format": "{{ '%s-%d-%5.2f|%-5s|%05d|%x|%%' % ('a', 3, x, 'b', 42, 255) }} {{ '%(k)s' % {'k': 1} }} {{ '%s' % n }} {{ '%s %s' | format('x', [1]) }} {{ '{} {1}' if no else '{1} {0}'.format('a', 'b') }} {{ '{:>5}|{:<5}|{:^5}|{:*^7}'.format(1, 'a', 'b', 'c') }} "
              "{{ '{:.2f} {:,} {:05d} {:x} {:+d} {:e} {:.1%}'.format(x, 1234567, 42, 255, 3, 12345.678, 0.256) }} {{ '{a[k]} {b.name} {c!r}'.format(a={'k': 1}, b=people[0], c='q') }} {{ '{{}}'.format() }} {{ '%r %c %e %g' % ('s', 'x', 1.5, 0.0001) }}",
    "filters-text": "{{ s | upper }} {{ s | lower }} {{ 'hello wORLD-foo (bar' | title }} {{ s | capitalize }} {{ spaces | trim }}| {{ 'xax' | trim('x') }} {{ s | replace('o', '0') }} {{ s | replace('l', 'L', 1) }} {{ 'ab' | replace('', '-') }} {{ s | length }} {{ s | count }} {{ s | wordcount }} {{ html | escape }} {{ html | e }} "
                    "{{ s | center(20) }}| {{ lines | indent }} {{ lines | indent(2, true) }} {{ lines | indent('> ', blank=true) }} {{ 'a' | indent(first=true) }} {{ 'foo bar baz qux' | truncate(9) }} {{ 'foo bar baz qux' | truncate(9, true) }} {{ 'foo bar baz qux' | truncate(11, false, '..', 0) }} {{ 'a b/ü?&' | urlencode }} {{ {'q': 'a b', 'r': '/'} | urlencode }} {{ 5 | string + '!' }}",
    "filters-numbers": "{{ neg | abs }} {{ -1.5 | abs }} {{ '42' | int }} {{ '4.9' | int }} {{ 'x' | int(7) }} {{ '0x1f' | int(base=16) }} {{ none | int }} {{ 3.9 | int }} {{ ' 12 ' | int }} {{ '1.5' | float }} {{ 'x' | float(0.5) }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 42 | round }} {{ 1.23 | round(1, 'ceil') }} {{ 1.27 | round(1, 'floor') }} {{ 1234 | round(-2) }} {{ -2.5 | round | int }} {{ '1e3' | float }}",
    "filters-sequences": "{{ list | first }} {{ list | last }} {{ list | sum }} {{ list | min }} {{ words | max }} {{ list | sort }} {{ words | sort }} {{ words | sort(true) }} {{ words | sort(case_sensitive=true) }} {{ words | unique | list }} {{ list | reverse | list }} {{ list | join(', ') }} {{ 'abc' | list }} {{ table | list }} "
                         "{{ range(7) | batch(3) | list }} {{ range(7) | batch(3, 'x') | list }} {{ range(7) | slice(3) | list }} {{ range(7) | slice(3, '-') | list }} {{ [] | first }}| {{ [] | last }}| {{ [] | min }}| {{ list | length }} {{ [[1, 2], [3]] | sum(start=[]) }} {{ mixed | list }} {{ 'cba' | sort | join }} {{ [3, 1] | map('string') | join('/') }}",
    "filters-attributes": "{{ people | map(attribute='name') | list }} {{ people | map(attribute='city', default='?') | join(',') }} {{ people | selectattr('age') | map(attribute='name') | list }} {{ people | rejectattr('age') | list | length }} {{ people | selectattr('age', 'equalto', 36) | map(attribute='name') | join }} {{ people | selectattr('city', 'defined') | list | length }} "
                          "{{ people | sort(attribute='name') | map(attribute='name') | list }} {{ people[:3] | sort(attribute='age,name', reverse=true) | map(attribute='name') | list }} {{ people[:3] | groupby('age') | list }} {% for age, group in people[:3] | groupby('age') %}{{ age }}:{{ group | map(attribute='name') | join('+') }};{% endfor %} {{ people[:3] | sum(attribute='age') }} {{ people[:3] | max(attribute='age') }} {{ people[:2] | map(attribute='tags.0') | list }} {{ people | join('/', attribute='name') }} {{ people | map(attribute='name') | map('upper') | list }} {{ people | map('length') | list }} {{ people[:3] | groupby('age') | map(attribute='grouper') | list }}",
    "filters-select": "{{ range(6) | select('odd') | list }} {{ range(6) | reject('odd') | list }} {{ range(6) | select('divisibleby', 3) | list }} {{ mixed | select | list }} {{ mixed | select('string') | list }} {{ words | select('in', ['fig']) | list }} {{ list | select('>', 1) | list }} {{ words | map('replace', 'p', 'P') | list }} {{ words | map('truncate', 3, true, '') | list }} {{ undefined_name | map('upper') | list }} {{ list | select('odd') is iterable }} {{ 'x' if list | select('gt', 99) }}",
    "filters-default": "{{ undefined_name | default('d') }} {{ none | default('d') }} {{ none | default('d', true) }} {{ '' | d('e', boolean=true) }} {{ undefined_name | default }}| {{ 0 | default(5) }} {{ table.zz | default(table.a) }}",
    "filters-dicts": "{{ table | dictsort }} {{ {'b': 1, 'a': 2} | dictsort(by='value') }} {{ {'B': 1, 'a': 2} | dictsort(true) }} {{ table | items | list | length }} {{ table | length }} {{ table.keys() | list }} {{ table.get('zz', 'none') }} {{ table.get('a') }} {{ table.get('q') }} {{ {'a': 1}.items() }} {{ {'a': 1}.keys() }} {{ {'a': 1}.values() }} {{ 'a' in table.keys() }} {{ people[0] | attr('name') }}| {{ table.n.deep.index(10) }} {{ [1, 1].count(1) }}",
    "tojson": "{{ mixed | tojson }} {{ table | tojson }} {{ html | tojson }} {{ u | tojson }} {{ u | tojson(ensure_ascii=true) }} {{ lines | tojson }} {{ [] | tojson(indent=2) }} {{ {} | tojson(indent=2) }}\n{{ table | tojson(indent=2) }}\n{{ table.n | tojson(indent='\t', sort_keys=true) }} {{ mixed | tojson(separators=(',', ':')) }} "
              "{{ {'b': 1, 'a': {'d': 2, 'c': 3}} | tojson(sort_keys=true) }} {{ {1: 2, none: 3, true: 4, 1.5: 5} | tojson }} {{ (1, 2) | tojson }} {{ [1.0, 1e100, 1e-7, 0.1] | tojson }} {{ '\\x00\\x1f\\x7f/\\u2028' | tojson }} {{ x | tojson }} {{ [1] | tojson(indent=0) }}",
    "repr": "{{ ['a', \"it's\", 'q\"', 'both\\'\"', '\\n\\t\\\\', 'é日🙂', '\\x00\\x7f\\u200b\\xa0'] }} {{ {'k': none, 1: true, (1, 2): [2.0]} }} {{ [undefined_name] }} {{ range(3) }} {{ range(1, 9, 2) }} {{ mixed }} {{ [1e16, 1e-5, 1.0, 100000.0] }} {{ '%r' % 'x' }}",
    "functions": "{{ range(3) | list }} {{ range(1, 4) | list }} {{ range(5, 0, -2) | list }} {{ range(3) | length }} {{ range(3)[-1] }} {{ 2 in range(3) }} {% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.next() }} {% set j = joiner('; ') %}{% for i in list %}{{ j() }}{{ i }}{% endfor %} {{ dict(a=1) }} {{ strftime_now('%Y-%m-%d %H:%M:%S %a %A %b %B %j %-d %p %y %%') }}",
    "undefined": "[{{ undefined_name }}] {{ undefined_name is defined }} {{ undefined_name | length }} {{ undefined_name | list }} {{ undefined_name == other_undefined }} {{ undefined_name ~ 'x' }} {{ [undefined_name] | first is undefined }} {{ 'a' in undefined_name }} {{ undefined_name | join }}| {{ not undefined_name }} {{ table.update is defined }} {{ list.append is defined }} {{ s.__class__ is defined }} {{ undefined_name | upper }}|",
    "unknown-in-if": "{% if no %}{{ x | not_a_filter }}{% if x is not_a_test %}{% endif %}{% endif %}{{ x | not_a_filter if no else 'fine' }}",
    "delimiters-in-strings": "{{ '}}' }} {{ '%}' }} {{ \"{{ x }}\" }} {% if '%}' %}yes{% endif %} {{ {'a': {'b': 1}}['a']['b'] }} {{ {'a': {}} }} { { x } } {x}",
    "error-undefined-attribute": "line\n{{ undefined_name.attribute }}",
    "error-undefined-item": "{{ undefined_name['x'] }}",
    "error-undefined-call": "{{ undefined_name() }}",
    "error-undefined-plus": "{{ undefined_name + 'x' }}",
    "error-type": "{{ 'a' + 1 }}",
    "error-zero": "{{ 1 // 0 }}",
    "error-order": "{{ 1 < 'a' }}",
    "error-sort": "{{ mixed | sort }}",
    "error-append": "{{ list.append(1) }}",
    "error-update": "{% set _ = table.update({'a': 2}) %}",
    "error-pop": "{{ table.pop('a') }}",
    "error-not-iterable": "{% for i in 5 %}{% endfor %}",
    "error-unpack": "{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "error-length": "{{ 5 | length }}",
    "error-generator-length": "{{ list | map('string') | length }}",
    "error-tojson": "{{ undefined_name | tojson }}",
    "error-namespace": "{% set table.x = 1 %}",
    "error-underscore": "{{ namespace(_x=1) }}",
    "error-range": "{{ range(100001) | list }}",
    "error-unknown-filter-reached": "{% if yes %}{{ x | not_a_filter }}{% endif %}",
    "error-macro-argument": "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "error-macro-keyword": "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}",
    "error-raise": "a{{ raise_exception('Ünïcode: ' ~ n ~ ' {x}') }}b",
    "error-raise-in-macro": "{% macro m() %}{{ raise_exception('inside') }}{% endmacro %}{{ 'x' ~ m() }}",
    "syntax-unclosed-if": "{% if yes %}a",
    "syntax-unclosed-tag": "{{ x ",
    "syntax-unclosed-comment": "{# x ",
    "syntax-unclosed-raw": "{% raw %} x",
    "syntax-wrong-end": "{% if yes %}{% endfor %}",
    "syntax-unknown-tag": "{% frobnicate %}",
    "syntax-unknown-filter": "{{ x | not_a_filter }}",
    "syntax-unknown-test": "{{ x is not_a_test }}",
    "syntax-bracket": "{{ (1, 2] }}",
    "syntax-expression": "{{ 1 + }}",
    "syntax-assign": "{% set 1 = 2 %}",
    "syntax-assign-constant": "{% set true = 2 %}",
    "syntax-break": "{% break %}",
    "syntax-character": "{{ a ! b }}",
    "syntax-keyword-order": "{{ dict(a=1, 2) }}",
    "syntax-empty": "{{ }}",
    "syntax-default-order": "{% macro m(a=1, b) %}{% endmacro %}",
    "syntax-chained-tests": "{{ 1 is odd is true }}",
}
