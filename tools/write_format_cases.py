#!/usr/bin/env python3
"""Writes the files that tests of src/formats read: arrays by NumPy, pictures by Pillow or from the standards, and what each holds.

Run it with Pillow and NumPy installed: tools/write_format_cases.py. Two headers come of it, src/formats/{arrays,images}/cases_for_tests.h.
Its own writers of PNG (every color type and depth, interlaced ones) and of zip64 follow the standards and share no code with the tree.
"""
import base64
import io
import pathlib
import struct
import zipfile
import zlib

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent / 'src' / 'formats'


def literal(data, indent='     '):
    """Base64 as string literals of at most 120 columns."""
    text = base64.b64encode(data).decode()
    width = 112
    lines = [text[i : i + width] for i in range(0, len(text), width)] or ['']
    return ('\n' + indent).join(f'"{line}"' for line in lines)


def header(path, comment, body):
    text = (f'// {comment}\n// Written by tools/write_format_cases.py.\n#pragma once\n\n#include <cstdint>\n\n'
            f'namespace tenfold::formats {{\n\n{body}\n}}  // namespace tenfold::formats\n')
    path.write_text(text)


# Arrays.

def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def zip64(members):
    """An archive whose directory has 32 bits of ones for each size and place, and the 64 bits behind them; its end likewise."""
    out, directory = b'', b''
    for name, data in members:
        name = name.encode()
        crc, ones = zlib.crc32(data), 0xFFFFFFFF
        extra = struct.pack('<HHQQQ', 1, 24, len(data), len(data), len(out))
        directory += struct.pack('<IHHHHHHIIIHHHHHII', 0x02014B50, 45, 45, 0, 0, 0, 0x21, crc, ones, ones, len(name), len(extra), 0, 0, 0,
                                 0, ones) + name + extra
        local = struct.pack('<HHQQ', 1, 16, len(data), len(data))
        out += struct.pack('<IHHHHHIIIHH', 0x04034B50, 45, 0, 0, 0, 0x21, crc, ones, ones, len(name), len(local)) + name + local + data
    start = len(out)
    end64 = struct.pack('<IQHHIIQQQQ', 0x06064B50, 44, 45, 45, 0, 0, len(members), len(members), len(directory), start)
    locator = struct.pack('<IIQI', 0x07064B50, 0, start + len(directory), 1)
    end = struct.pack('<IHHHHIIH', 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return out + directory + end64 + locator + end


def npz(save, **arrays):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def arrays():
    cases = []
    numbers = np.array([[1, -2, 3], [4, 5, -6]])
    for name, array, version in (
        ('f4', numbers.astype('<f4'), None),
        ('f4_fortran', np.asfortranarray(numbers.astype('<f4')), None),
        ('f8_big_endian', numbers.astype('>f8'), None),
        ('i2_big_endian_fortran', np.asfortranarray(numbers.astype('>i2')), None),
        ('i1', numbers.astype('i1'), None),
        ('i8_version_2', numbers.astype('<i8'), (2, 0)),
        ('f2_version_3', numbers.astype('<f2'), (3, 0)),
    ):  # fmt: skip
        cases.append(f'    {{"{name}",\n     {literal(npy(array, version))}}},\n')
    cube = np.arange(24).reshape(2, 3, 4)
    a, b = np.array([1.5, -2.5], '<f4'), np.array([[7], [8], [9]], '<i8')
    strings = np.array(['a', 'Grüße', '', '漢字\U0001F600'])
    body = '''struct FileCase {
  const char *name, *base64;
};

// Each holds [[1,-2,3],[4,5,-6]].
inline constexpr FileCase kNumbers[] = {
''' + ''.join(cases) + '};\n\n'
    for comment, name, data in (
        ('0 to 23 as [2,3,4] of uint8 in Fortran\'s order.', 'kCube', npy(np.asfortranarray(cube.astype('u1')))),
        ('"a", "Grüße", "" and "漢字😀".', 'kStrings', npy(strings)),
        ('The same, big-endian.', 'kStringsBigEndian', npy(strings.astype(strings.dtype.newbyteorder('>')))),
        ('7 without an axis.', 'kScalar', npy(np.array(7, '<i4'))),
        ('[0,3].', 'kEmpty', npy(np.zeros((0, 3), '<f4'))),
        ('[true,false,true].', 'kBooleans', npy(np.array([True, False, True]))),
        ('Complex numbers.', 'kComplex', npy(np.array([1j]))),
    ):  # fmt: skip
        body += f'// {comment}\ninline constexpr const char* {name} =\n    {literal(data, "    ")};\n\n'
    archives = (
        ('stored', npz(np.savez, a=a, b=b)),
        ('deflated', npz(np.savez_compressed, a=a, b=b)),
        ('zip64', zip64([('a.npy', npy(a)), ('b.npy', npy(b))])),
    )  # fmt: skip
    rows = ''.join(f'    {{"{name}",\n     {literal(data)}}},\n' for name, data in archives)
    body += '// Archives of a = [1.5,-2.5] (float32) and b = [[7],[8],[9]] (int64).\n'
    body += f'inline constexpr FileCase kArchives[] = {{\n{rows}}};\n\n'
    bz2 = io.BytesIO()
    with zipfile.ZipFile(bz2, 'w', zipfile.ZIP_BZIP2) as archive:
        archive.writestr('a.npy', npy(a))
    body += f'// The first of them, by bzip2.\ninline constexpr const char* kBzip2 =\n    {literal(bz2.getvalue(), "    ")};\n\n'
    header(ROOT / 'arrays' / 'cases_for_tests.h', 'Arrays as NumPy writes them, in base64.', body)


# Pictures.

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
WIDTH, HEIGHT = 5, 3
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))   # Adam7: x, y, steps


def packed(row, depth):
    """Samples of a row as bytes, first ones in the highest bits."""
    if depth == 16:
        return row.astype('>u2').tobytes()
    bits = ''.join(format(int(v), f'0{depth}b') for v in row)
    return bytes(int(bits[i : i + 8].ljust(8, '0'), 2) for i in range(0, len(bits), 8))


def png(samples, color, depth, palette=None, transparent=None, interlaced=False):
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))

    def rows(part):
        return b''.join(b'\0' + packed(row.reshape(-1), depth) for row in part if row.size)

    height, width = samples.shape[:2]
    parts = [samples[y::dy, x::dx] for x, y, dx, dy in PASSES] if interlaced else [samples]
    out = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, color, 0, 0, interlaced))
    if palette is not None:
        out += chunk(b'PLTE', palette.astype('u1').tobytes())
    if transparent is not None:
        out += chunk(b'tRNS', transparent)
    return out + chunk(b'IDAT', zlib.compress(b''.join(map(rows, parts)), 9)) + chunk(b'IEND', b'')


def colors_of(samples, color, depth, palette):
    if color == 3:
        return palette[samples[..., 0]].astype('u1')
    largest = (1 << depth) - 1
    levels = np.floor(samples * 255.0 / largest + 0.5).astype('u1')   # 0 to 255 by the nearest
    return np.repeat(levels[..., :1], 3, 2) if color in (0, 4) else levels[..., :3]


def pngs():
    random = np.random.default_rng(40)
    for color, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (3, (1, 2, 4, 8)), (4, (8, 16)), (6, (8, 16))):
        for depth in depths:
            samples = random.integers(0, 1 << depth, (HEIGHT, WIDTH, CHANNELS[color]))
            palette = random.integers(0, 256, (1 << depth, 3)) if color == 3 else None
            yield f'type {color}, {depth} bits', png(samples, color, depth, palette), colors_of(samples, color, depth, palette)
    samples = random.integers(0, 256, (HEIGHT, WIDTH, 3))
    yield 'interlaced', png(samples, 2, 8, interlaced=True), samples.astype('u1')
    palette = random.integers(0, 256, (4, 3))
    samples = random.integers(0, 4, (HEIGHT, WIDTH, 1))
    yield 'transparent palette', png(samples, 3, 2, palette, bytes([0, 128, 255])), palette[samples[..., 0]].astype('u1')


def deep_pngs():
    """Of 16 bits without alpha: samples as they stand, in every channel. Pillow reads gray ones so."""
    random = np.random.default_rng(42)
    for name, color, interlaced in (('gray', 0, False), ('colors', 2, False), ('interlaced', 0, True)):
        samples = random.integers(0, 1 << 16, (HEIGHT, WIDTH, CHANNELS[color]))
        file = png(samples, color, 16, interlaced=interlaced)
        assert color or (np.asarray(Image.open(io.BytesIO(file))) == samples[..., 0]).all()
        yield f'16 bits, {name}', file, np.repeat(samples, 3 // CHANNELS[color], 2).astype('<u2')


def picture(width, height):
    """Smooth, with an edge: what a photograph has, and JPEG keeps."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [255 * x / (width - 1), 255 * y / (height - 1), np.where(x > width / 2, 200, 30)]
    return Image.fromarray(np.stack(planes, 2).astype('u1'))


def jpegs():
    image = picture(16, 8)
    for name, source, options in (
        ('4:4:4', image, dict(subsampling=0)),
        ('4:2:0', picture(17, 9), dict(subsampling=2)),
        ('progressive', image, dict(progressive=True, subsampling=0)),
        ('gray', image.convert('L'), dict()),
    ):  # fmt: skip
        out = io.BytesIO()
        source.save(out, 'JPEG', quality=80, optimize=True, **options)
        yield name, out.getvalue(), np.asarray(Image.open(io.BytesIO(out.getvalue())).convert('RGB'))


def pictures():
    def row(name, file, pixels):
        return (f'    {{"{name}", {pixels.shape[1]}, {pixels.shape[0]},\n     {literal(file)},\n     {literal(pixels.tobytes())}}},\n')

    body = '''// A file, and its pixels in red, green and blue.
struct ImageCase {
  const char* name;
  int width, height;
  const char *file, *pixels;
};

// What a standard's levels are in 8 bits, computed from the samples that the files were made of.
inline constexpr ImageCase kPngs[] = {
''' + ''.join(row(*case) for case in pngs()) + '};\n\n'
    body += '// By Pillow, whose decoder may round otherwise.\ninline constexpr ImageCase kJpegs[] = {\n'
    body += ''.join(row(*case) for case in jpegs()) + '};\n\n'
    cmyk = io.BytesIO()
    picture(16, 8).convert('CMYK').save(cmyk, 'JPEG', quality=50, optimize=True)
    body += f'// Of four inks.\ninline constexpr const char* kCmyk =\n    {literal(cmyk.getvalue(), "    ")};\n\n'
    random = np.random.default_rng(41)
    source = random.integers(0, 256, (7, 9, 3)).astype('u1')
    body += f'''// A picture of 9 x 7, and what Pillow's Image.resize(size, BILINEAR) makes of it.
inline constexpr const char* kSource =
    {literal(source.tobytes(), "    ")};

struct ResizeCase {{
  int width, height;
  const char* pixels;
}};
inline constexpr ResizeCase kResized[] = {{
'''
    for width, height in ((4, 7), (9, 3), (5, 3), (1, 1), (18, 14), (9, 7), (20, 3), (3, 20)):
        resized = np.asarray(Image.fromarray(source).resize((width, height), Image.BILINEAR))
        body += f'    {{{width}, {height},\n     {literal(resized.tobytes())}}},\n'
    body += '};\n'
    gray = np.asarray(Image.fromarray(source).convert('L'))
    body += f'\n// Its luminance by Pillow\'s convert("L").\ninline constexpr const char* kGray = {literal(gray.tobytes(), "    ")};\n'
    body += '\n// Pixels of 16 bits, the lower byte first. By Pillow where they are gray.\ninline constexpr ImageCase kDeepPngs[] = {\n'
    body += ''.join(row(*case) for case in deep_pngs()) + '};\n\n'
    deep = random.integers(0, 1 << 16, (7, 9)).astype('<u2')
    body += f'''// A gray picture of 9 x 7 in 16 bits, and what Pillow's Image.resize(size, BILINEAR) makes of it.
inline constexpr const char* kDeepSource =
    {literal(deep.tobytes(), "    ")};
inline constexpr ResizeCase kDeepResized[] = {{
'''
    for width, height in ((4, 7), (5, 3), (18, 14), (3, 20)):
        resized = np.asarray(Image.fromarray(deep).resize((width, height), Image.BILINEAR)).astype('<u2')
        body += f'    {{{width}, {height},\n     {literal(resized.tobytes())}}},\n'
    body += '};\n'
    header(ROOT / 'images' / 'cases_for_tests.h', 'Pictures as files, and their pixels, in base64.', body)


if __name__ == '__main__':
    arrays()
    pictures()
