"""Forms of TensorRT's Python: every method takes the keywords of each of its forms, and what is a property there is one here."""
import inspect
import pathlib
import unittest

import tenfold.tensorrt as trt

HERE = pathlib.Path(__file__).parent


def lines(name):
    return [line for line in (HERE / name).read_text().splitlines() if not line.startswith('#')]


class Signatures(unittest.TestCase):
    def test_every_form_takes_its_keywords(self):
        wrong, count = [], 0
        for line in lines('tensorrt_signatures.txt'):
            where, *names = line.split(' ')
            if where == 'property':
                continue
            kind, method = where.split('.')
            function = getattr(getattr(trt, kind), method)
            static = isinstance(inspect.getattr_static(getattr(trt, kind), method), staticmethod)
            given, needed = ({name.rstrip('='): None for name in names if all_ or not name.endswith('=')} for all_ in (True, False))
            try:
                signature = inspect.signature(function)
            except ValueError:   # of bytes and the like
                continue
            for keywords in (given, needed):
                count += 1
                try:
                    signature.bind(*[] if static else [None], **keywords)
                except TypeError as error:
                    wrong.append(f'{line}: {error}')
        self.assertEqual(wrong, [])
        self.assertGreater(count, 400)

    def test_properties_are_properties(self):
        wrong = []
        for line in lines('tensorrt_signatures.txt'):
            form, kind, *names = line.split(' ')
            for name in names if form == 'property' else ():
                found = inspect.getattr_static(getattr(trt, kind), name.rstrip('='))
                if callable(found) and not isinstance(found, type):
                    wrong.append(f'{kind}.{name} is a method')
                elif name.endswith('=') and isinstance(found, property) and found.fset is None:
                    wrong.append(f'{kind}.{name} cannot be set')
        self.assertEqual(wrong, [])

    def test_names_of_8(self):
        lacking = []
        for line in lines('tensorrt_names_8.txt'):
            kind, *members = line.split(' ')
            lacking += [kind] if not hasattr(trt, kind) else [f'{kind}.{m}' for m in members if not hasattr(getattr(trt, kind), m)]
        self.assertEqual(lacking, [])


if __name__ == '__main__':
    unittest.main()
