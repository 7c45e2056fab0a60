#!/usr/bin/env python3
"""Fails on an include that goes up or sideways in the layer table of ARCHITECTURE.md.

Its rows read `| folder | may include |`; the second column lists folders as includes name them, without their group, or "-". Rows of a
second table, `| in backends | may include |`, do the same for folders of src/backends: a file there may also include what lies in its own
folder, and, unless that is one of ALONE, the headers of src/backends, of its problems/ and of its device. Test files may include anything
below builder: they are not part of a library. A third, `| family | may include |`, does that for the folders inside BY_FAMILY, whose own
files include none of them; `| in runtime |` for the folders of src/execution/runtime, where `.` is what lies beside them, which may
include all, and `| in cli |` for those of cli. `| in python | may import |`, in python/README.md, says which modules these folders import
beside the standard library's; rows of python/native's folders say which of these their C++ includes, and rows of a package's private
folders which of these they import.

PROGRAMS beside src/ include public headers, and the libraries of src/ that are made for them.

Fails, too, where code above the backends compares the name of a device, or looks into the name of an operator.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALONE = ('cpu/kernels', 'cpu/simd')   # isolated objects, compiled once per instruction set: see cmake/isa.cmake
BY_FAMILY = ('cpu/kernels', 'cpu/tactics', 'cuda/kernels', 'cuda/codegen', 'cuda/tactics')
# On public headers, and these folders of src/.
PROGRAMS = {'cli': {'formats'}, 'examples': set(), 'python': set(), 'server': set(), 'triton_backend': set()}
SHARED = 'lib'   # of cuda/kernels: the folder for files outside the families elsewhere


def table(title):
    """{folder: folders it may include}"""
    rows = {}
    inside = False
    page = 'python/README.md' if title == 'in python' else 'ARCHITECTURE.md'
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith(f'| {title} |'):
            inside = True
        elif inside and line.startswith('|'):
            cells = [c.strip() for c in line.strip('|').split('|')]
            if set(cells[0]) <= {'-', ':'}:
                continue
            rows[cells[0].strip('`')] = set(re.findall(r'[\w/.]+', cells[1]))
        elif inside:
            break
    if not rows:
        sys.exit(f'{page} has no table of "{title}"')
    return rows


def sources(folder):
    return [s for s in sorted(folder.rglob('*'))
            if s.suffix in ('.h', '.cpp', '.cu', '.cuh') and not s.stem.endswith(('_test', '_for_tests'))]


def problems_in_backends():
    allowed = table('in backends')
    root = ROOT / 'src' / 'backends'
    for folder in sorted(f.relative_to(root).as_posix() for f in root.glob('*/*') if f.is_dir()):
        if folder not in allowed:
            yield f'src/backends/{folder} is not in the table of folders of backends'
            continue
        near = {folder} | allowed[folder] | (set() if folder in ALONE else {'', 'problems', folder.split('/')[0]})
        for source in sources(root / folder):
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(r'#include "(?:backends/)?([^"]*)"', line)
                if not found or not (folder in ALONE or line.startswith('#include "backends/')):
                    continue
                target = '/'.join(found.group(1).split('/')[:-1][:2])
                if target not in near:
                    yield f'{source.relative_to(ROOT)}:{number}: {folder} may not include {found.group(1)}'


def problems_in_families():
    allowed = table('family')
    for heap in BY_FAMILY:
        root = ROOT / 'src' / 'backends' / heap
        for family in sorted(p.name for p in root.iterdir() if p.is_dir()):
            if family not in allowed and family != SHARED:
                yield f'src/backends/{heap}/{family} is not in the table of families'
        for source in sources(root):
            family = source.relative_to(root).parent.as_posix()
            near = {family, '.', SHARED} | allowed.get(family, set())
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(rf'#include "backends/{heap}/(?:(.*)/)?[^/"]*"', line)
                target = found and (found.group(1) or '.')
                if target and target not in near:
                    where = f'family {family}' if family != '.' else f'a file outside the families of {heap}'
                    yield f'{source.relative_to(ROOT)}:{number}: {where} may not include family {target}'


def problems_inside(root, title, prefix, beside=False):
    """Of the folders of `root`, by the table `title`. Their includes begin with `prefix`; `beside`: files beside them serve all."""
    allowed = table(title)
    for folder in sorted(p.name for p in root.iterdir() if p.is_dir()):
        if folder not in allowed:
            yield f'{(root / folder).relative_to(ROOT)} is not in the table "{title}"'
            continue
        near = {folder} | allowed[folder] | ({'.'} if beside else set())
        for source in sources(root / folder):
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(rf'#include "{prefix}(?:(.*)/)?[^/"]*"', line)
                target = found and (found.group(1) or '.').split('/')[0]
                if target and target not in near and (target == '.' or target in allowed):
                    yield f'{source.relative_to(ROOT)}:{number}: {folder} may not include what lies in {target}'


def problems_in_native():
    """Folders of the extension include each other as their rows say; what lies beside them may include all."""
    allowed = table('in python')
    for source in sources(ROOT / 'python' / 'native'):
        folder = source.relative_to(ROOT / 'python').parent.as_posix()
        if folder not in allowed:
            yield f'python/{folder} is not in the table of folders of python'
        elif folder != 'native':
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(r'#include "(native(?:/[^/"]+)*)/[^/"]+"', line)
                if found and found.group(1) != folder and found.group(1) not in allowed[folder]:
                    yield f'{source.relative_to(ROOT)}:{number}: python/{folder} may not include what lies in {found.group(1)}'


def folder_of(module, source):
    """Of the package around the folder of `source` that private folder in which the module lies; none: it lies in none, or elsewhere."""
    package, _, rest = module.partition(source.parent.parent.name + '.')
    inside = package and rest.split('.')[0]
    return inside if inside and inside.startswith('_') and (source.parent.parent / inside).is_dir() else None


def problems_in_python():
    """Modules that a folder of python/ imports: of the package those that its row names, of others those too; the standard library."""
    allowed = table('in python')
    for source in sorted((ROOT / 'python').rglob('*.py')):
        path = source.relative_to(ROOT / 'python')
        folder = path.parent.as_posix()
        if folder not in allowed:
            yield f'python/{folder} is not in the table of folders of python'
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            found = re.match(r'\s*(?:from|import) ([\w.]+)', line)
            if not found or line.lstrip().startswith('from . '):
                continue
            module = found.group(1)
            inside = folder_of(module, source)
            if inside not in (None, source.parent.name) and inside not in allowed[folder]:
                yield f'{source.relative_to(ROOT)}:{number}: python/{folder} may not import of {inside}'
            # A module of the tests that others share is named `case`, or ends so.
            if module.split('.')[0] in sys.stdlib_module_names or folder.endswith('tests') and re.fullmatch(r'(\w+_)?case', module):
                continue
            if not any(module == a or module.startswith(a + '.') for a in allowed[folder]):
                yield f'{source.relative_to(ROOT)}:{number}: python/{folder} may not import {module}'
    for package in sorted(p.parent for p in (ROOT / 'python/compat').glob('*/__init__.py')):
        link = ROOT / 'python/tenfold' / package.name
        if link.resolve() != package:
            yield f'{link.relative_to(ROOT)}: no link to python/compat/{package.name}, so no wheel has it: ln -s ../compat/{package.name}'


# Names of devices and parts of operators' names, compared where a question is to be asked: backends/device_traits.h (kind_of,
# gpu_ordinal), tenfold/device.h (is_gpu), ir/op_traits.h.
COMPARED = re.compile(r'''(starts_with|rfind|find)\(["'](cuda|gpu)|[=!]= *"cuda"|\bkind *[=!]= *"(cpu|cuda|null)"|'''
                      r'''\bop(\(\))?\.(r?find|starts_with|ends_with|contains)\("[A-Za-z]''')
ASKED = ('src/backends/', 'src/onnx/')   # where devices get their names; where the standard's names are read and written
# The text of a plug-in's table, which says "cpu" or "cuda".
TABLES = ('src/execution/runtime/plugins/struct.cpp', 'python/native/plugins/plugin_operator.cpp',
          'python/native/plugins/plugin_tactic.cpp')


def problems_of_names():
    for folder in ('src', 'cli', 'include', 'python/native'):
        for source in sources(ROOT / folder):
            path = source.relative_to(ROOT).as_posix()
            if path.startswith(ASKED) or path in TABLES:
                continue
            for number, line in enumerate(source.read_text().splitlines(), 1):
                if COMPARED.search(line):
                    yield (f'{path}:{number}: asks by a name: kind_of() or gpu_ordinal() of backends/device_traits.h, is_gpu() of '
                           f'tenfold/device.h, or a trait of the operator')


def folders():
    """{how includes of a folder begin: the folder}: the layer table has paths in src/, of which the group in front is left out."""
    return {path.split('/', 1)[-1]: ROOT / 'src' / path for path in table('folder')}


def problems_in_layers():
    allowed = {path.split('/', 1)[-1]: may for path, may in table('folder').items()}
    known = folders()
    for source in sources(ROOT / 'src'):
        own = next((name for name, folder in known.items() if source.is_relative_to(folder)), None)
        if not own:
            yield f'{source.relative_to(ROOT)}: its folder is not in the layer table'
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            found = re.match(r'#include "([^"]*)/[^/"]*"', line)
            target = found and next((name for name in known if (found.group(1) + '/').startswith(name + '/')), None)
            if target and target != own and target not in allowed[own]:
                yield f'{source.relative_to(ROOT)}:{number}: {own} may not include {target}'


def problems_above():
    known = folders()
    for folder, libraries in PROGRAMS.items():
        for source in sources(ROOT / folder):
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = re.match(r'#include "([a-z_]+)/', line)
                if found and found.group(1) not in libraries and found.group(1) in known:
                    may = ' and '.join(['public headers', *(f'src/{one}' for one in sorted(libraries))])
                    yield f'{source.relative_to(ROOT)}:{number}: {folder} includes {may} only'


def main():
    problems = [*problems_in_layers(), *problems_above(), *problems_in_backends(), *problems_in_families(), *problems_of_names(),
                *problems_inside(ROOT / 'src' / 'execution' / 'runtime', 'in runtime', 'runtime/'),
                *problems_inside(ROOT / 'cli', 'in cli', '', beside=True),
                *problems_inside(ROOT / 'server', 'in server', '', beside=True), *problems_in_native(), *problems_in_python()]
    print('\n'.join(problems) or 'layers: ok')
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
