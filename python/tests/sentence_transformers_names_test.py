"""The names, arguments and defaults of tenfold.embeddings beside those of sentence-transformers, which sentence_transformers_names.txt has.

sentence_transformers_names_test.py --write: writes that file anew, where sentence-transformers is installed.
"""
import inspect
import pathlib
import sys
import unittest

from case import needs

import tenfold.embeddings as ours

FILE = pathlib.Path(__file__).resolve().parent / 'sentence_transformers_names.txt'
HEAD = '''# Methods of SentenceTransformer and CrossEncoder in sentence-transformers {version} with their arguments, as inspect.signature()
# gives them: facts, no text of its own. "CLASS.METHOD ARGUMENT[=DEFAULT] ...", behind "*" by keyword alone; "CLASS.PROPERTY" alone is a
# property.
'''
# What trains, changes, saves or shares a model, what is of other inputs than texts, what is torch's own, and older names.
LEFT_OUT = set('''clear_placement_cache config default_activation_function dtype encode_multi_process evaluate fit get_backend
    get_default_activation_fn get_model_kwargs get_sentence_features gradient_checkpointing_enable is_singular_input load merge modalities
    model old_fit processor push_to_hub save save_pretrained save_to_hub set_keep_in_fp32_modules set_pooling_include_prompt
    smart_batching_collate smart_batching_collate_text_only supports tokenizer
    transformers_model truncate_sentence_embeddings'''.split())
DEFAULTS = {'local_files_only': 'True'}   # of ours; nothing is ever fetched


def arguments(function):
    """[(name, default or None, whether it is by keyword alone)], without self and collected keywords."""
    found = []
    for p in list(inspect.signature(inspect.unwrap(function)).parameters.values())[1:]:
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            found.append((p.name, None if p.default is p.empty else repr(p.default), p.kind is p.KEYWORD_ONLY))
    return found


def written():
    """{(class, name): arguments, or None for a property} of the file."""
    found = {}
    for line in FILE.read_text().splitlines():
        if line.startswith('#'):
            continue
        name, *words = line.split()
        keyword, rows = False, []
        for word in words:
            if word == '*':
                keyword = True
            elif word != '()':
                argument, equals, default = word.partition('=')
                rows.append((argument, default if equals else None, keyword))
        found[tuple(name.split('.'))] = rows if words else None
    return found


def read():
    """The same of what is installed."""
    import sentence_transformers as theirs
    import torch
    found = {}
    for kind in (theirs.SentenceTransformer, theirs.CrossEncoder):
        own = {name for base in kind.__mro__ if base.__module__.startswith('sentence_transformers') and 'Peft' not in base.__name__
               for name in vars(base) if not name.startswith('_')}
        for name in ('__init__', *sorted(own - set(dir(torch.nn.Sequential)) - LEFT_OUT)):
            value = inspect.getattr_static(kind, name)
            if isinstance(value, property):
                found[kind.__name__, name] = None
            elif inspect.isfunction(value):
                found[kind.__name__, name] = arguments(value)
    return found


def write():
    import sentence_transformers as theirs
    lines = []
    for (kind, name), rows in read().items():
        line, keyword = f'{kind}.{name}', False
        for argument, default, by_keyword in rows or ():
            if by_keyword and not keyword:
                line, keyword = line + ' *', True
            line += f' {argument}' + ('' if default is None else f'={default}')
        lines.append(line + (' ()' if rows == [] else '') + '\n')
    FILE.write_text(HEAD.format(version=theirs.__version__) + ''.join(lines))


class Names(unittest.TestCase):
    def test_arguments_are_theirs(self):
        for (kind, name), rows in written().items():
            value = inspect.getattr_static(getattr(ours, kind), name, None)
            if value is None or rows is None or isinstance(value, property):
                continue
            with self.subTest(f'{kind}.{name}'):
                mine = arguments(getattr(getattr(ours, kind), name))
                expected = [(a, DEFAULTS.get(a, default) if name == '__init__' else default, keyword) for a, default, keyword in rows]
                self.assertEqual([row for row in mine if row[0] in {a for a, *_ in rows}], expected)
                self.assertEqual([row for row in mine if not row[2]], [row for row in expected if not row[2]], 'the same places')

    def test_all_but_what_is_left_out_are_there(self):
        fresh = {'similarity_fn_name'}   # an attribute of each object
        self.assertEqual({name for kind, name in written() if not hasattr(getattr(ours, kind), name)} - fresh, set())
        self.assertEqual({name for name in LEFT_OUT if any(hasattr(k, name) for k in (ours.SentenceTransformer, ours.CrossEncoder))}, set())

    @needs('sentence-transformers', '6.2')
    def test_the_file_is_theirs(self):
        self.assertEqual(written(), read())


if __name__ == '__main__':
    write() if '--write' in sys.argv else unittest.main()
