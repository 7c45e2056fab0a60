#!/usr/bin/env python3
"""Writes the software bill of materials of a package: CycloneDX 1.6, as JSON.

FOLDER has the package's files. What a file contains is read from the build folders that made it: the objects and archives that it was
linked of, the headers that these were compiled with; what it needs at run time is read from the file itself. Versions are those that
headers say, and dpkg, where it is. The same files give the same bytes.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import time
import uuid
from pathlib import Path
from urllib.parse import quote

from sbom_build import Build
from sbom_parts import debian_package, license_of_library, part_of, system_library, upstream_version, version_of


def is_binary(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open('rb') as file:
        return file.read(8)[:4] == b'\x7fELF' or path.suffix == '.a'


def needs_of(path):
    said = subprocess.run(['readelf', '-d', path], capture_output=True, text=True).stdout
    return re.findall(r'\(NEEDED\).*\[(.*)\]', said)


class Bill:
    """`components`: by name, (version, license, Debian's package, how they are in the package)."""

    def __init__(self, builds, folder, version):
        self.builds, self.version, self.components = builds, version, {}
        files = [path for path in sorted(folder.rglob('*')) if is_binary(path)]
        present = {path.name for path in folder.rglob('*')}
        for path in files:
            made = [(build, build.output_of(path.name)) for build in builds]
            build, output = next(((build, output) for build, output in made if output), (None, None))
            if output:
                self.add_contents(build, output)
            else:
                self.add_library(system_library(path.name), 'file, inside')
            for needed in needs_of(path):
                if needed not in present:
                    self.add_library(system_library(needed), 'linked, not inside')

    def add_contents(self, build, output):
        for item in build.objects_of(output):
            if item.startswith('/') and item.endswith('.a'):
                self.add_library(item, 'linked, inside')
            if 'tenfold_text.dir/' in item:
                self.add('unicode-data', None, 'Unicode-3.0', None, 'tables made of it')
            for header in build.headers.get(item, []):
                self.add_header(header)

    def add_header(self, header):
        part, folder = part_of(header)
        if part:
            if part.name not in self.components:
                self.add(part.name, version_of(part, folder), part.license, debian_package(header), part.how)
        elif folder and not any(Path(header).is_relative_to(build.source) for build in self.builds):   # nobody knows it
            self.add(header, None, None, debian_package(header), 'compiled in')

    def add_library(self, path, how):
        name = re.sub(r'\.(so|a)\b.*', '', os.path.basename(path))
        ours = name.startswith('libtenfold')
        package = None if ours else debian_package(path)
        self.add(name, self.version if ours else upstream_version(package), license_of_library(name), package, how)

    def add(self, name, version, license, package, how):
        self.components.setdefault(name, (version, license, package, set()))[3].add(how)


def license_entry(name):
    return [{'expression': name} if ' ' in name else {'license': {'id': name}}]


def entry_of(name, version, license, package, ways):
    entry = {'type': 'library', 'bom-ref': name, 'name': name}
    if version:
        entry['version'] = version
    if license:
        entry['licenses'] = license_entry(license)
    if package:
        entry['purl'] = f'pkg:deb/debian/{package[0]}@{quote(package[1])}?arch={package[2]}'
    else:
        entry['purl'] = f'pkg:generic/{quote(name)}' + (f'@{version}' if version else '')
    return {**entry, 'scope': 'required', 'properties': [{'name': 'tenfold:how', 'value': way} for way in sorted(ways)]}


def document(bill, name, version, purl):
    kind = 'library' if name.startswith('lib') else 'application'
    root = {'type': kind, 'bom-ref': f'{name}@{version}', 'name': name, 'version': version, 'licenses': license_entry('Apache-2.0'),
            'purl': purl}
    metadata = {'component': root}
    if 'SOURCE_DATE_EPOCH' in os.environ:
        metadata['timestamp'] = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(int(os.environ['SOURCE_DATE_EPOCH'])))
    components = [entry_of(each, *bill.components[each]) for each in sorted(bill.components)]
    references = [each['bom-ref'] for each in components]
    body = {'version': 1, 'metadata': metadata, 'components': components,
            'dependencies': [{'ref': root['bom-ref'], 'dependsOn': references}, *({'ref': each} for each in references)]}
    number = uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(json.dumps(body).encode()).hexdigest())
    return {'bomFormat': 'CycloneDX', 'specVersion': '1.6', 'serialNumber': f'urn:uuid:{number}', **body}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--build', action='append', required=True, help='a build folder (Ninja); several: the first that made a file')
    parser.add_argument('--ninja', default='ninja', help='the program')
    parser.add_argument('--programs', default='linked', help='its folder with the programs of the package: linked, portable')
    parser.add_argument('--name', required=True)
    parser.add_argument('--version', required=True)
    parser.add_argument('--purl', required=True, help='what the package is for package managers: pkg:pypi/tenfold@0.1.0')
    parser.add_argument('folder', type=Path)
    parser.add_argument('out', type=Path)
    given = parser.parse_args()
    bill = Bill([Build(folder, given.programs, given.ninja) for folder in given.build], given.folder, given.version)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(document(bill, given.name, given.version, given.purl), indent=2) + '\n')


if __name__ == '__main__':
    main()
