"""Chat templates beside jinja2, set up as transformers sets it up: families of models, pieces of the language, refusals, bounds."""
import json
import os
import unittest

import tenfold
from case import Case
from chat_templates_case import FAMILIES, Conversations, read
from decoders_case import QUICK, WORDS, RandomDecoder

try:
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    jinja2 = None

TOKENS = {'bos_token': '<s>', 'eos_token': '</s>'}
NO_VARIABLES = {'tools': None, 'documents': None, 'add_generation_prompt': False}
COUNT = int(os.environ.get('TENFOLD_CONVERSATIONS', '150'))   # of each family


def environment():
    """As transformers makes it (utils/chat_template_utils.py)."""
    class Generation(jinja2.ext.Extension):
        tags = {'generation'}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(['name:endgeneration'], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method('same'), [], [], body).set_lineno(line)

        def same(self, caller):
            return caller()

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters['tojson'] = tojson
    made.globals['raise_exception'] = raise_exception
    made.globals['strftime_now'] = lambda format: '26 Jul 2024'
    return made


class Templates(Case):
    def decoder(self, **files):
        self.model = RandomDecoder(self.path('chat'), 'gpt2')
        for name, value in {'tokenizer_config.json': TOKENS, **files}.items():
            self.model.save(name, value)
        return tenfold.Decoder(self.model.folder, **QUICK)


@unittest.skipUnless(jinja2, 'jinja2 is not installed')
class BesideJinja(Templates):
    def expected(self, template, messages, **variables):
        """The text, or None where jinja2 refuses."""
        try:
            compiled = self.compiled.get(template) or self.jinja.from_string(template)
            self.compiled[template] = compiled
            return compiled.render(messages=messages, **{**NO_VARIABLES, **TOKENS, **variables})
        except (jinja2.exceptions.TemplateError, TypeError, ValueError, ArithmeticError, SyntaxError):
            return None

    def setUp(self):
        super().setUp()
        self.jinja, self.compiled = environment(), {}
        self.ours = self.decoder()

    def got(self, template, messages, **variables):
        try:
            return self.ours.apply_chat_template(messages, chat_template=template, tokenize=False, **variables)
        except (tenfold.InvalidArgument, tenfold.InvalidModel, tenfold.Unsupported) as error:
            self.assertRegex(str(error), 'the chat template, line [0-9]+: ')
            return None

    def test_families(self):
        for name, (alternates, system) in FAMILIES.items():
            template, made, refused = read(name + '.jinja'), Conversations(name), 0
            for i in range(COUNT):
                messages, variables = made.conversation(alternates, system), made.variables()
                expected = self.expected(template, messages, **variables)
                refused += expected is None
                with self.subTest(name, i=i, messages=messages, variables=variables):
                    self.assertEqual(self.got(template, messages, **variables), expected)
            self.assertLess(refused, COUNT * 0.7, name)   # most of them say something

    def test_pieces_of_the_language(self):
        values = {'t': ' Hello, Wörld\n two  ', 'n': 7, 'm': -3, 'x': 2.5, 'big': 1e16, 'small': 1e-7, 'l': [3, 1, 2, 1], 'e': [],
                  'yes': True,
                  'nil': None, 'd': {'b': 1, 'a': [1, {'c': None}], 'items': 'mine'}, 'w': ['b', 'A', 'c', 'a'],
                  'people': [{'n': 'Z', 'a': 3}, {'n': 'b', 'a': 1}, {'n': 'C'}]}
        lines = read('pieces.txt').split('\n')
        templates = [line.replace('⏎', '\n') for line in lines if not line.startswith('# ') and line.strip()]
        self.assertGreater(len(templates), 200)
        said = 0
        for template in templates:
            expected = self.expected(template, [], **values)
            said += bool(expected)
            with self.subTest(template):
                self.assertEqual(self.got(template, [], **values), expected)
        self.assertGreater(said, 0.7 * len(templates))

    def test_a_date(self):
        import datetime
        before = datetime.datetime.now()
        got = self.got('{{ strftime_now("%Y-%m-%d %H") }}', [])
        self.assertIn(got, [when.strftime('%Y-%m-%d %H') for when in (before, datetime.datetime.now())])


class Folders(Templates):
    HELLO = [{'role': 'user', 'content': 'the cat sat'}]

    def text(self, decoder, **keywords):
        return decoder.apply_chat_template(self.HELLO, tokenize=False, **keywords)

    def test_where_templates_are(self):
        one = '{{ bos_token }}{{ messages[0].content }}'
        self.assertEqual(self.text(self.decoder(**{'tokenizer_config.json': {**TOKENS, 'chat_template': one}})), '<s>the cat sat')
        named = [{'name': 'default', 'template': 'D'}, {'name': 'tool_use', 'template': 'T{{ tools[0].n }}'}]
        several = self.decoder(**{'tokenizer_config.json': {'chat_template': named}})
        self.assertEqual((self.text(several), self.text(several, tools=[{'n': 1}])), ('D', 'T1'))
        self.assertEqual(self.text(several, chat_template='tool_use', tools=[{}]), 'T')
        with self.assertRaisesRegex(tenfold.InvalidArgument, "no chat template 'rag'; there are default, tool_use"):
            self.text(several, chat_template='rag')
        self.assertEqual(self.text(self.decoder(**{'chat_template.json': {'chat_template': 'J'}})), 'J')
        with open(self.model.path('chat_template.jinja'), 'w') as file:
            file.write('F{{ eos_token }}{{ pad_token }}')
        self.model.save('special_tokens_map.json', {'eos_token': 'other', 'pad_token': {'content': '<pad>'}})
        self.assertEqual(self.text(tenfold.Decoder(self.model.folder, **QUICK)), 'F</s><pad>')

    def test_a_chat(self):
        template = '{% for m in messages %}{{ m.content }} {% endfor %}{% if add_generation_prompt %}. then{% endif %}'
        decoder = self.decoder(**{'tokenizer_config.json': {'chat_template': template}})
        self.assertTrue(decoder.has_chat_template)
        ids = [WORDS.index(word) for word in 'the cat sat . then'.split()]
        self.assertEqual(decoder.apply_chat_template(self.HELLO, add_generation_prompt=True), ids)
        said = decoder.chat(self.HELLO, max_tokens=9, ignore_end=True)
        self.assertEqual((said.ids, said.prompt_tokens), (self.model.greedy(ids, 9), len(ids)))
        self.assertEqual(''.join(decoder.stream(ids, max_tokens=9, ignore_end=True)), said.text)

    def test_refusals(self):
        none = self.decoder()
        self.assertFalse(none.has_chat_template)
        for error, pattern, messages, keywords in (
                (tenfold.InvalidArgument, 'has no chat template: neither', self.HELLO, {}),
                (tenfold.InvalidArgument, 'the conversation is no list', {'role': 'user'}, {}),
                (tenfold.InvalidArgument, 'message 1 of the conversation is no object with a role', [*self.HELLO, {'content': 'x'}], {}),
                (tenfold.InvalidArgument, 'not JSON serializable; a chat template is given what JSON has', [{'role': self}], {}),
                (tenfold.InvalidArgument, 'tools is no list', self.HELLO, dict(tools={'a': 1})),
                (tenfold.InvalidArgument, 'line 2: no cats', self.HELLO, dict(chat_template="{# a #}\n{{ raise_exception('no cats') }}")),
                (tenfold.InvalidArgument, "line 1: 'nobody' is undefined", self.HELLO, dict(chat_template='{{ nobody.name }}')),
                (tenfold.InvalidModel, "line 3: the template ends without '{% endif %}'", self.HELLO,
                 dict(chat_template='{% if 1 %}\n\n.')),
                (tenfold.InvalidModel, 'line 1: a value was expected', self.HELLO, dict(chat_template='{{ 1 + }}')),
                (tenfold.InvalidModel, "line 1: '}}' was expected, not 'b'", self.HELLO, dict(chat_template='{{ a b }}')),
                (tenfold.Unsupported, r'line 1: the statement {% include %} is not supported', self.HELLO,
                 dict(chat_template="{% include 'x' %}")),
                (tenfold.Unsupported, "line 2: the filter 'urlize' is not supported; there are abs, capitalize", self.HELLO,
                 dict(chat_template="\n{{ 1 | urlize }}")),
                (tenfold.Unsupported, "the test 'is filter' is not supported", self.HELLO, dict(chat_template="{{ 1 is filter }}"))):
            with self.subTest(pattern), self.assertRaisesRegex(error, pattern):
                none.apply_chat_template(messages, tokenize=False, **keywords)
        self.model.save('tokenizer_config.json', {'chat_template': 7})
        with self.assertRaisesRegex(tenfold.InvalidModel, 'chat_template is neither a text nor a list'):
            tenfold.Decoder(self.model.folder, **QUICK)

    def test_templates_that_do_not_end(self):
        """A message, and the memory and stack that it took are bounded."""
        decoder = self.decoder()
        many, large = '{% for i in range(99999) %}', 'elements and characters|takes more than'
        doubled = many + '{% set n.t = n.t + n.t %}{% endfor %}'
        for pattern, template in (
                ('line 1: it takes more than 5000000 steps', f'{many}{many}x{{% endfor %}}{{% endfor %}}'),
                ('nested more than 600 deep', '{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}'),
                ('nested more than 600 deep', '{% for i in [1] recursive %}{{ loop([i]) }}{% endfor %}'),
                (large, "{% set n = namespace(t='ab') %}" + doubled), (large, "{% set n = namespace(t=['ab']) %}" + doubled),
                ('lie in each other|elements', f'{{% set n = namespace(t=1) %}}{many}{{% set n.t = [n.t, n.t] %}}{{% endfor %}}'),
                ('lie in each other', f"{{% set n = namespace(t=1) %}}{many}{{% set n.t = [n.t] %}}{{% endfor %}}"),
                ('more than 67108864 bytes', "{{ 'abc' * 99999999 }}"), ('more than 100000 numbers', '{{ range(10 ** 9) }}'),
                ('nested more than 200 deep', '{{ ' + '(' * 5000 + '1' + ')' * 5000 + ' }}'),
                ('nested more than 200 deep', '{{ ' + 'not ' * 5000 + '1 }}'), ('nested more than 200 deep', '{% if 1 %}' * 5000),
                ('more than 400 operators', '{{ ' + '1 + ' * 5000 + '1 }}'), ('more than 400 operators', '{{ a' + '.a' * 5000 + ' }}')):
            with self.subTest(pattern, template=template[:60]), self.assertRaisesRegex(tenfold.Error, pattern):
                decoder.apply_chat_template(self.HELLO, chat_template=template, tokenize=False)
        kept = "{% set n = namespace() %}{% set n.n = n %}"
        kept += "{% macro f(p) %}{% macro g() %}{{ p }}{% endmacro %}{% set n.g = g %}{% endmacro %}"
        chain = kept + '{% for i in range(20000) %}{{ f(n.g) }}{% set n.m = namespace(m=n.m) %}{% endfor %}{{ n is defined }}'
        self.assertEqual(decoder.apply_chat_template(self.HELLO, chat_template=chain, tokenize=False), 'True')


if __name__ == '__main__':
    unittest.main()
