"""What others wrote that binaries of this tree can contain or link: how it is recognized, its license, and where its headers say which
version they are. tools/sbom.py finds what is really there; what it finds and this table lacks, it names, and tests fail on that."""
import functools
import re
import subprocess
from pathlib import Path
from typing import NamedTuple


class Part(NamedTuple):
    name: str
    license: str
    headers: str            # a pattern of paths; what comes before the version's file is the first group
    version_file: str = ''  # from that group on
    version: str = ''       # a pattern, whose groups are joined by dots
    how: str = 'compiled in'   # or 'declared': headers of C, which have no code


def numbers(prefix, last='PATCH'):
    return ''.join(rf'(?=.*?define {prefix}_{part}\s+(\d+))' for part in ('MAJOR', 'MINOR', last))


PARTS = [
    Part('nlohmann-json', 'MIT', r'(.*/nlohmann/)', 'detail/abi_macros.hpp', numbers('NLOHMANN_JSON_VERSION')),
    Part('xxhash', 'BSD-2-Clause', r'(.*/)xxhash\.h$', 'xxhash.h', numbers('XXH_VERSION', 'RELEASE')),
    Part('boost', 'BSL-1.0', r'(.*/boost/)', 'version.hpp', r'BOOST_LIB_VERSION "([\d_]+)"'),
    Part('simdjson', 'Apache-2.0', r'(.*/)simdjson(\.h$|/)', 'simdjson.h', r'define SIMDJSON_VERSION "?([\d.]+)'),
    Part('protobuf', 'BSD-3-Clause', r'(.*/google/protobuf/)', 'stubs/common.h', r'define GOOGLE_PROTOBUF_VERSION (\d)0?(\d\d)0?(\d\d)\s'),
    Part('nghttp2', 'MIT', r'(.*/nghttp2/)', 'nghttp2ver.h', r'define NGHTTP2_VERSION "([\d.]+)"', 'declared'),
    Part('zlib', 'Zlib', r'(.*/)z(lib|conf)\.h$', 'zlib.h', r'define ZLIB_VERSION "([\d.]+)', 'declared'),
    Part('openssl', 'Apache-2.0', r'(.*/openssl/)', 'opensslv.h', r'define OPENSSL_VERSION_STR "([\d.]+)"', 'declared'),
    Part('onednn', 'Apache-2.0', r'(.*?/)(oneapi/dnnl/|dnnl[\w.]*\.h$)', 'oneapi/dnnl/dnnl_version.h', numbers('DNNL_VERSION'),
         'declared'),
    Part('robin-map', 'MIT', r'(.*/tsl/)robin', 'robin_growth_policy.h', numbers('TSL_RH_VERSION')),
    Part('nanobind', 'BSD-3-Clause', r'(.*/nanobind[-\d.]*/)(include|src)/', 'include/nanobind/nanobind.h', numbers('NB_VERSION')),
    Part('python', 'PSF-2.0', r'(.*/include/python[\d.]+/)', 'patchlevel.h', r'define PY_VERSION\s+"([\w.]+)"'),
]
# Those of the compiler and the C library, whose licenses ask nothing of programs that they compiled; and this tree's, by relative paths.
TOOLCHAIN = re.compile(r'.*/(gcc|g\+\+|c\+\+|clang)/|.*/cmake_pch\.hxx'
                       r'|/usr/include/([\w-]+-linux-gnu/)?((a/)?(bits|sys|gnu|asm|asm-generic|linux|net|netinet|arpa|rpc)/|[\w-]+\.h$)')
# Shared libraries that distributions bring.
SHARED = {'libprotobuf': 'BSD-3-Clause', 'libnghttp2': 'MIT', 'libsimdjson': 'Apache-2.0', 'libz': 'Zlib', 'libssl': 'Apache-2.0',
          'libcrypto': 'Apache-2.0', 'libstdc++': 'GPL-3.0-or-later WITH GCC-exception-3.1',
          'libgcc_s': 'GPL-3.0-or-later WITH GCC-exception-3.1', 'libc': 'LGPL-2.1-or-later', 'libm': 'LGPL-2.1-or-later',
          'ld-linux-x86-64': 'LGPL-2.1-or-later'}
FOLDERS = ('/usr/lib/x86_64-linux-gnu', '/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/lib64')


def part_of(header):
    """(part, the folder of its headers); (None, None) for the toolchain's; (None, header) for one that nobody knows."""
    for part in PARTS:
        found = re.match(part.headers, header)
        if found:
            return part, found[1]
    return (None, None) if TOOLCHAIN.match(header) else (None, header)


def version_of(part, folder):
    try:
        text = Path(folder, part.version_file).read_text(errors='replace')
    except OSError:
        return None
    found = re.search(part.version, text, re.S)
    return '.'.join(found.groups()).replace('_', '.') if found else None


def license_of_library(name):
    return 'Apache-2.0' if name.startswith('libtenfold') else SHARED.get(name)


def system_library(name):
    return next((f'{folder}/{name}' for folder in FOLDERS if Path(folder, name).exists()), name)


def upstream_version(package):
    """3.0.19 of 3.0.19-1~deb12u2, 1.2.13 of 1:1.2.13.dfsg-1."""
    return re.sub(r'^\d+:|(\.dfsg|\+ds|\+dfsg)?[-+][^-]*$', '', package[1]) if package else None


@functools.cache
def debian_package(path):
    """(package, version, architecture) of a file of the system; None where there is no dpkg, or it does not know the file."""
    path = str(Path(path).resolve())
    for name in (path, path.removeprefix('/usr')):   # packages may know the folders before they were merged
        try:
            said = subprocess.run(['dpkg-query', '-S', name], capture_output=True, text=True).stdout
            owner = said.partition(': ')[0].partition(', ')[0]
            if owner:
                form = '${Package} ${Version} ${Architecture}'
                return tuple(subprocess.run(['dpkg-query', '-W', '-f', form, owner], capture_output=True, text=True).stdout.split())
        except OSError:
            break
    return None
