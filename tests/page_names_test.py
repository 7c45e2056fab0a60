"""Names in backticks on the pages for developers occur in the sources: identifiers, members, files and folders. Needs Python alone."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('src', 'include', 'cli', 'server', 'triton_backend', 'python', 'tests', 'tools', 'cmake', 'script', 'bench', 'examples', 'docs',
           'deploy')
COMMENTS = {'//.*': ('.cpp', '.h', '.cu', '.cuh', '.c'), r'(?m)^\s*#.*|  # .*': ('.py', '.cmake', '')}
WRITTEN = ('build/', 'bench/', '../')      # what a build, or another checkout, has
NO_NAMES = {'PascalCase', 'snake_case', 'nvcc'}
PATH = re.compile(r'[\w.+-]+(/[\w.+-]+)+/?|[\w-]+\.(cpp|h|cu|cuh|py|cmake|txt|js)|\w+/')
NAME = re.compile(r'[A-Za-z_]\w*((::|\.|->)[A-Za-z_]\w*)*(\(\))?')
TYPE = re.compile(r'\b(?:struct|class|union|enum(?: class)?)\s+(?:TENFOLD_API\s+)?(\w+)\b[^;{()=]*\{')
PLACEHOLDER = re.compile(r'(^|[/_])[A-Z]{2,}([_./]|$)')   # VERB_WHAT.cpp


def pages():
    return [ROOT / 'ARCHITECTURE.md', ROOT / 'CONTRIBUTING.md', ROOT / 'python' / 'README.md', *sorted((ROOT / 'src').rglob('README.md'))]


def code_of(path):
    """Its text without comments, which keep names that are gone."""
    text = path.read_text(errors='replace')
    return next((re.sub(comment, '', text) for comment, kinds in COMMENTS.items() if path.suffix in kinds), text)


class Sources:
    """What names there are: words of code, the words of each file that defines a type, and ends of paths."""

    def __init__(self):
        self.words, self.with_type, self.ends = set(), {}, set()
        for path in (p for folder in FOLDERS for p in (ROOT / folder).rglob('*')):
            if '__pycache__' in path.parts:
                continue
            parts = path.relative_to(ROOT).parts
            self.ends.update('/'.join(parts[i:]) for i in range(len(parts)))
            if not path.is_file() or path.suffix in ('.md', '.json', '.svg', '.onnx'):
                continue
            self.words.add(path.stem)
            if not path.stem.endswith('_test') or parts[0] != 'src':
                code = code_of(path)
                words = set(re.findall(r'\w+', code))
                self.words |= words
                for kind in TYPE.findall(code) if path.suffix == '.h' else ():
                    self.with_type.setdefault(kind, set()).update(words)
        self.with_type['BuildConfig'] |= set(re.findall(r'\w+', code_of(ROOT / 'include/tenfold/build_fields.h')))

    def has(self, span):
        if PATH.fullmatch(span):
            return span.startswith(WRITTEN) or bool(PLACEHOLDER.search(span)) or span.rstrip('/') in self.ends or (ROOT / span).exists()
        if not NAME.fullmatch(span) or span in NO_NAMES:
            return True
        names = re.findall(r'\w+', span)
        if '::' in span and names[-2] in self.with_type and names[-1] not in self.with_type[names[-2]]:
            return False
        return all(name in self.words for name in names)


def spans(text):
    return re.findall(r'`([^`\n]+)`', re.sub(r'^ *```.*?^ *```', '', text, flags=re.M | re.S))


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = Sources()

    def test_names_of_the_pages_occur(self):
        for page in pages():
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(sorted({span for span in spans(page.read_text()) if not self.sources.has(span)}), [])

    def test_this_test_finds_what_is_gone(self):
        for gone in ('run_' + 'behind', 'Program::' + 'early', 'no_such/file.cpp', 'gone_' + 'file.h', 'no_' + 'folder/'):
            self.assertFalse(self.sources.has(gone), gone)
        for there in ('prepare_run', 'Program::precomputed', 'runtime/context.cpp', 'context.h', 'rules/VERB_WHAT.cpp', '--flag x'):
            self.assertTrue(self.sources.has(there), there)


if __name__ == '__main__':
    unittest.main()
