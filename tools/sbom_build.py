"""What a file of a build folder was made of, as Ninja knows it: for tools/sbom.py."""
import os
import re
import subprocess
from pathlib import Path

OBJECTS = ('.o', '.o.all', '.a', '.gch')
FOLDERS = ('', 'triton/tenfold/', 'cli/', 'python/tenfold/')


class Build:
    def __init__(self, folder, programs, ninja):
        """`programs`: the folder with those that the package has, of several that have one name."""
        self.ninja, self.folder, self.places = ninja, Path(folder), (f'{programs}/', *FOLDERS)
        self.source = self.read_source()
        self.rules = dict(self.read_rules())
        self.headers = dict(self.read_headers())

    def read_source(self):
        """The tree that it was made of: an sdist's engine may come from another one."""
        cache = (self.folder / 'CMakeCache.txt').read_text()
        return re.search(r'(?m)^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$', cache)[1]

    def read_rules(self):
        """Outputs with what they are made of, but for what has only to be there before."""
        text = (self.folder / 'build.ninja').read_text().replace('$\n', '')
        for line in re.findall(r'(?m)^build (.*)$', text):
            outputs, _, inputs = line.partition(': ')
            inputs = inputs.partition(' || ')[0].replace(' | ', ' ').split()[1:]
            for output in outputs.replace(' | ', ' ').split():
                yield output, inputs

    def read_headers(self):
        said = subprocess.run([self.ninja, '-t', 'deps'], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        for block in said.split('\n\n'):
            first, *rest = block.strip().split('\n')
            yield first.partition(': #deps')[0], [os.path.normpath(self.folder / line.strip()) for line in rest]

    def output_of(self, name):
        """The file that one of a package is a copy of; None if this folder did not make it."""
        found = next((place + name for place in self.places if place + name in self.rules), None)
        while found and len(self.rules[found]) == 1 and self.rules[found][0].startswith(found):   # a link to libNAME.so.0.1.0
            found = self.rules[found][0]
        return found

    def objects_of(self, output):
        """Objects, and archives of others, that it was linked of. What shared libraries hold is theirs."""
        found, left = set(), [output]
        while left:
            for item in self.rules.get(left.pop(), []):
                if item.endswith(OBJECTS) and item not in found:
                    found.add(item)
                    left.append(item)
        return found
