"""Whose work is what: a holder is named, binaries travel with the notices of what is in them, and what is installed is used and pinned."""
import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

import report_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'examples'))

# What is linked in: how the build asks for it, and the heading of its notice.
LINKED = {'nlohmann_json': 'nlohmann-json', 'xxHash|xxhash': 'xxHash', 'nanobind': 'nanobind', 'Protobuf': 'Protocol Buffers',
          'simdjson': 'simdjson'}
# Of the system, of tests and of bench/; Boost's license asks for no notice in binaries.
NOT_LINKED = {'Threads', 'GTest', 'Python', 'OpenMP', 'ZLIB', 'Boost', 'OpenSSL'}
# Debian's packages of headers, and what a source has to include of each; others are tools.
HEADERS = {'libgtest-dev': 'gtest/', 'nlohmann-json3-dev': 'nlohmann/', 'libxxhash-dev': 'xxhash', 'libdnnl-dev': 'oneapi/dnnl/',
           'python3-dev': None, 'libboost1.81-dev': 'boost/beast/', 'libsimdjson-dev': 'simdjson', 'zlib1g-dev': 'zlib',
           'libnghttp2-dev': 'nghttp2/', 'libssl-dev': 'openssl/', 'libprotobuf-dev': None}   # generated sources include the last


def text(name):
    return (ROOT / name).read_text()


def sources(*suffixes):
    files = subprocess.run(['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True).stdout.split()
    files = files or [str(path.relative_to(ROOT)) for folder in ('src', 'cli', 'cmake', 'python', 'tests') for path in
                      (ROOT / folder).rglob('*')]
    return [path for path in files if path.endswith(suffixes) and (ROOT / path).is_file()]


class Notices(unittest.TestCase):
    def test_a_holder_is_named(self):
        self.assertIn('Copyright 2026 The Tenfold authors', text('LICENSE'))
        self.assertNotIn('[name of copyright owner]', text('LICENSE'))
        self.assertIn('Copyright 2026 The Tenfold authors', text('NOTICE'))

    def test_all_that_is_linked_in_has_its_notice(self):
        cmake = '\n'.join(text(path) for path in sources('.cmake', 'CMakeLists.txt', '.cmake.in'))
        requested = set(re.findall(r'find_package\((\w+)', cmake)) - NOT_LINKED - {'Tenfold'}
        known = set('|'.join(LINKED).split('|'))
        self.assertEqual({name for name in requested if name not in known}, set(), 'say in LINKED or NOT_LINKED whether it is linked in')
        notices = text('THIRD-PARTY-NOTICES.txt')
        for name in (*LINKED.values(), 'robin_map', 'Unicode data', 'nghttp2'):
            self.assertRegex(notices, rf'(?m)^={{80}}\n{name}.*: (MIT|BSD-2-Clause|BSD-3-Clause|Unicode-3.0|Apache-2.0)$')

    def test_wheels_carry_them(self):
        pure = [(f'python/compat/{name}', []) for name in ('cyto', 'hana', 'shim')]
        for folder, more in (('.', ['THIRD-PARTY-NOTICES.txt']), *pure):
            project = tomllib.loads(text(f'{folder}/pyproject.toml'))['project']
            self.assertEqual(project['license-files'], ['LICENSE', 'NOTICE', *more], folder)
            for name in project['license-files']:
                self.assertEqual((ROOT / folder / name).read_text(), text(name))

    def test_packages_of_headers_are_used(self):
        """script/bootstrap installs none that no source includes."""
        installed = set(re.findall(r'[\w.+-]+-dev\b', text('script/bootstrap').partition('packages=(')[2].partition(')')[0]))
        self.assertEqual(installed, set(HEADERS), 'say in HEADERS what a source includes of it')
        included = '\n'.join(re.findall(r'#include [<"]([^>"]+)', '\n'.join(text(path) for path in sources('.cpp', '.h'))))
        for package, header in HEADERS.items():
            if header:
                self.assertTrue(re.search(rf'(?m)^{header}', included), f'no source includes a header of {package}')

    def test_models_are_pinned_by_their_bytes(self):
        packages = [line for line in text('script/requirements-models.txt').splitlines() if not line.startswith('#')]
        for package in packages:
            self.assertRegex(package, r'^[\w-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}$')

    def test_other_weights_are_refused(self):
        import tempfile

        try:
            import sentence_search
        except ImportError as missing:
            self.skipTest(f'the demo needs {missing.name}')
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'model.safetensors').write_bytes(b'other weights')
            with self.assertRaisesRegex(RuntimeError, 'is not the file of sentence-transformers/all-MiniLM-L6-v2'):
                sentence_search.check_weights(folder)


if __name__ == '__main__':
    report_skips.run()
