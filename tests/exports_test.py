#!/usr/bin/env python3
"""What the shared libraries export: exports_test.py INCLUDE_FOLDER LIBTENFOLD LIBTENFOLD_BUILDER LIBTENFOLD_TEXT
LIBTENFOLD_IMAGING

Under the public version there may be only what headers of include/tenfold mark with TENFOLD_API, and all of C's functions. The other
libraries hold no variable of the runtime's a second time.
"""
import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def marked(folder):
    """Names that the headers mark: C functions, C++ functions, classes."""
    c, functions, classes = set(), set(), set()
    for header in folder.rglob('*.h'):   # internal/ among them: what only our own programs and the Python extension share
        text = re.sub(r'//[^\n]*|/\*.*?\*/', '', header.read_text(), flags=re.S)
        text = re.sub(r'^#[^\n]*', '', text, flags=re.M)
        for declared in re.findall(r'TENFOLD_API\s+([^;{]*)', text):
            kind = re.match(r'(?:enum\s+)?(?:class|struct)\s+(\w+)', declared)
            if kind:
                classes.add(kind.group(1))
            elif found := re.search(r'(\w+)\s*\(', declared):
                name = found.group(1)
                (c if name.startswith('tenfold_') else functions).add(name)
        classes.update(re.findall(r'(?:class|struct)\s+TENFOLD_API\s+(\w+)', text))
    return c, functions, classes


def exported(library):
    """{name: version} of what a shared library defines; names as the linker knows them."""
    found = {}
    for line in output('readelf', '-W', '--dyn-syms', library).splitlines():
        cells = re.sub(r'<[^>]*>: \w+', 'UNIQUE', line).split()   # of a type or binding that readelf has no name for
        if len(cells) < 8 or not cells[0].rstrip(':').isdigit() or cells[6] in ('UND', 'ABS') or cells[4] == 'LOCAL':
            continue
        name, _, version = cells[7].partition('@')
        found[name] = version.lstrip('@')
    return found


def variables(library):
    """Our variables that a library can write to. Constants that need relocation are read-only once it is loaded."""
    sections = {}
    for line in output('readelf', '-W', '-S', library).splitlines():
        found = re.match(r'\s*\[\s*(\d+)\] (\S+)\s+\S+\s+\w+ \w+ \w+ \w+ (\w*)', line)
        if found and 'W' in found.group(3) and found.group(2).startswith(('.data', '.bss', '.tdata', '.tbss')):
            sections[found.group(1)] = found.group(2)
    lines = (line.split() for line in output('readelf', '-W', '-s', library).splitlines())
    return {cells[-1].partition('@')[0] for cells in lines
            if len(cells) >= 8 and cells[-2] in sections and 'rel.ro' not in sections[cells[-2]] and '7tenfold' in cells[-1]}


def main():
    include, run, *others = sys.argv[1:]
    build, texts, imaging = others
    c, functions, classes = marked(pathlib.Path(include))
    problems = []
    names = {}
    for library, soname in ((run, 'libtenfold.so.0'), (build, 'libtenfold-builder.so.0'), (texts, 'libtenfold-text.so.0'),
                            (imaging, 'libtenfold-imaging.so.0')):
        if f'[{soname}]' not in output('readelf', '-d', library):
            problems.append(f'{library} is not called {soname}')
        own = exported(library)
        if not own:
            problems.append(f'{library} exports nothing')
        for name, version in own.items():
            if not re.fullmatch(r'TENFOLD_(PRIVATE_)?\d+\.\d+(\.\d+)?', version):
                problems.append(f'{soname} exports {name} with the version "{version}"')
        names[soname] = {name for name, version in own.items() if 'PRIVATE' not in version}
        private = [name for name in own if name not in names[soname]]
        print(f'{soname}: {len(names[soname])} public symbols, {len(private)} for the other libraries')
        if soname != 'libtenfold.so.0' and private:
            problems.append(f'{soname} exports private symbols')
    for soname, own in names.items():
        mangled = sorted(own)
        plain = output('c++filt', *mangled).splitlines() if mangled else []
        for name, text in zip(mangled, plain):
            if name.startswith('tenfold_'):
                allowed = name in c
            else:
                text = re.sub(r'^(vtable|typeinfo name|typeinfo|VTT|guard variable) for ', '', text)
                plain_name = re.sub(r'\[abi:\w+\]', '', text.split('(')[0])
                parts = plain_name.split('::')
                # A marked class with its members, a marked function, or a marked member of a class that is not.
                marked_so = len(parts) > 1 and (parts[1] in classes or parts[-1] in functions)
                allowed = parts[0] == 'tenfold' and marked_so and 'Impl' not in parts
            if not allowed:
                problems.append(f'{soname} exports {text}, which no header marks')
    everything = set().union(*names.values())
    problems += [f'no library exports {name}' for name in sorted(c - everything)]
    shared = variables(run) & (variables(build) | variables(texts) | variables(imaging))
    problems += [f'two libraries have a variable {name}' for name in sorted(shared)]
    print('\n'.join(problems) or f'exports: ok ({len(c)} C functions, {len(classes)} classes)')
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
