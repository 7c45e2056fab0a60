"""Relative links of every Markdown page lead to a file of this tree, with the heading where one is named. Needs Python alone."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r'!?\[[^\]]*\]\(<?([^)\s>]+)>?\)|<(?:img|source)[^>]*\bsrc(?:set)?="([^"]+)"')
FRAGMENTS = {'docs/reference/cli-levels.md', 'docs/reference/operator-choices.md'}   # tools/write_docs.py appends them to pages
MENTION = re.compile(r'(?<![\w/.-])docs/[\w./-]+\.md\b')   # in text and comments, without a link


def pages():
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '*.md'], cwd=ROOT, capture_output=True, text=True)
    found = [ROOT / line for line in listed.stdout.splitlines()] if listed.returncode == 0 else \
        [path for path in ROOT.rglob('*.md') if 'build' not in path.relative_to(ROOT).parts]
    return [path for path in found if path.is_file()]


def prose(text):
    """Without blocks and spans of code, in which brackets and parentheses are no links."""
    return re.sub(r'`[^`\n]*`', '', re.sub(r'^ *```.*?^ *```', '', text, flags=re.M | re.S))


def anchors(text):
    """The ids that GitHub gives headings: lower case, words and hyphens, `-1` for the second of a name."""
    ids, seen = set(), {}
    for heading in re.findall(r'^#+ +(.*?)\s*$', re.sub(r'^ *```.*?^ *```', '', text, flags=re.M | re.S), re.M):
        name = re.sub(r'[^\w\- ]', '', re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()).replace(' ', '-')
        ids.add(f'{name}-{seen[name]}' if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return ids


def broken(page, text):
    for match in LINK.finditer(prose(text)):
        target = match[1] or match[2]
        if re.match(r'[a-z]+:', target):
            continue
        path, _, anchor = target.partition('#')
        where = (page.parent / path).resolve() if path else page
        if not where.exists():
            yield f'{target}: no such file'
        elif anchor and where.suffix == '.md' and anchor not in anchors(where.read_text()):
            yield f'{target}: no such heading'


class Links(unittest.TestCase):
    def test_links_resolve(self):
        for page in pages():
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(list(broken(page, page.read_text())), [])

    def test_pages_that_sources_mention_exist(self):
        """Comments, messages and tools name pages by their path from the root."""
        for folder in ('src', 'cli', 'include', 'python', 'tools', 'tests', 'bench', 'script', 'cmake', 'examples', 'docs',
                       'triton_backend'):
            for path in (ROOT / folder).rglob('*'):
                if path.suffix in ('.cpp', '.h', '.py', '.md', '.cmake', '.cu', '.c', '') and path.is_file():
                    text = path.read_text(errors='replace')
                    lost = {name for name in MENTION.findall(text) if not (ROOT / name).exists()}
                    self.assertEqual(lost, set(), path)

    def test_reading_paths_are_short(self):
        """Each of ARCHITECTURE's paths names files that exist, at most 1,500 lines together, and names that stand in them."""
        rows = [line for line in (ROOT / 'ARCHITECTURE.md').read_text().splitlines() if re.match(r'\| \*\*A \w+', line)]
        self.assertEqual(len(rows), 5)
        for row in rows:
            files = re.findall(r'`((?:src|python)/[\w./]+\.\w+)`(?: \(([^)]*(?:\(\)[^)]*)*)\))?', row)
            lines = sum(len((ROOT / name).read_text().splitlines()) for name, _ in files)
            self.assertTrue(500 < lines <= 1500, f'{row[:40]}: {lines} lines')
            for name, words in files:
                text = (ROOT / name).read_text()
                for output in re.findall(r'`([\w:]+)(?:\(\))?`', words):
                    self.assertRegex(text, rf'\b{output}\b', f'{row[:40]}: {name} has no {output}')

    def test_refused_flags_of_trtexec_are_on_the_page(self):
        """docs/start/migrate-from-tensorrt.md names each flag that the command line refuses."""
        source = (ROOT / 'cli/engines/trtexec_flags.cpp').read_text().partition('refused() {')[2].partition('return all;')[0]
        refused = {name for group in re.findall(r'\{("\w+"(?:,\s*"\w+")*)\}', source) for name in re.findall(r'"(\w+)"', group)}
        self.assertGreater(len(refused), 30)
        page = (ROOT / 'docs/start/migrate-from-tensorrt.md').read_text()
        self.assertEqual({name for name in refused if f'`--{name}`' not in page}, set())

    def test_every_page_is_on_the_map(self):
        linked = {(ROOT / 'docs' / match[1].partition('#')[0]).resolve() for match in LINK.finditer((ROOT / 'docs/README.md').read_text())
                  if match[1]}
        self.assertEqual({str(path.relative_to(ROOT)) for path in (ROOT / 'docs').rglob('*.md')
                          if path not in linked and path != ROOT / 'docs/README.md'}, FRAGMENTS)

    def test_this_test_finds_what_is_broken(self):
        page = ROOT / 'docs' / 'README.md'
        self.assertEqual(list(broken(page, '[a](nowhere.md) [b](#nothing-here) [c](https://x.y) `[d](none)`')),
                         ['nowhere.md: no such file', '#nothing-here: no such heading'])


if __name__ == '__main__':
    unittest.main()
