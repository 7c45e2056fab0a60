#!/usr/bin/env python3
"""Writes src/core/images/cases_for_tests.h: files of pictures by Pillow, or by hand where Pillow writes none, and the pixels of each.

Run it with Pillow and NumPy installed: tools/write_image_cases.py. The writers of BMP here follow the format and share no code with the
tree. Pixels are those that were written, or for what loses levels those that Pillow reads.
"""
import base64
import io
import pathlib
import struct

import numpy as np
from PIL import Image

PATH = pathlib.Path(__file__).resolve().parent.parent / 'src' / 'core' / 'images' / 'cases_for_tests.h'
WIDTH, HEIGHT = 7, 5
RANDOM = np.random.default_rng(0)
COLORS = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
GRAY = COLORS[:, :, 0]
SMOOTH = (np.indices((HEIGHT, WIDTH)).sum(0)[:, :, None] * [20, 10, 5] + [10, 60, 90]).astype(np.uint8)


def literal(data):
    text = base64.b64encode(data).decode()
    return '\n     '.join(f'"{text[i : i + 112]}"' for i in range(0, len(text) or 1, 112))


def saved(array, form, **options):
    out = io.BytesIO()
    Image.fromarray(array).save(out, form, **options)
    return out.getvalue()


def bmp(bits, rows, *, compression=0, palette=(), masks=(), from_top=False, core=False):
    """`rows`: the pixels' bytes as they stand in the file."""
    colors = b''.join(bytes([*p[::-1]]) + (b'' if core else b'\0') for p in palette)
    if core:
        head = struct.pack('<IHHHH', 12, WIDTH, HEIGHT, 1, bits)
    else:
        head = struct.pack('<IiiHHIIiiII', 40, WIDTH, -HEIGHT if from_top else HEIGHT, 1, bits, compression, len(rows), 2835, 2835,
                           len(palette), 0) + b''.join(struct.pack('<I', m) for m in masks)
    start = 14 + len(head) + len(colors)
    return b'BM' + struct.pack('<IHHI', start + len(rows), 0, 0, start) + head + colors + rows


def padded(rows):
    return b''.join(r + b'\0' * (-len(r) % 4) for r in rows)


def bmps():
    palette = RANDOM.integers(0, 256, (16, 3), np.uint8)
    indices = RANDOM.integers(0, 16, (HEIGHT, WIDTH))
    colors = palette[indices]
    up = indices[::-1]
    nibbles = [bytes((int(a) << 4 | int(b)) for a, b in zip([*r, 0][::2], [*r, 0][1::2])) for r in up]
    yield 'BMP, 4 bits', bmp(4, padded(nibbles), palette=palette), colors
    yield 'BMP, 4 bits, of OS/2', bmp(4, padded(nibbles), palette=palette, core=True), colors
    two = indices % 2
    bits = [bytes([int(''.join(str(v) for v in r).ljust(8, '0'), 2)]) for r in two[::-1]]
    yield 'BMP, 1 bit', bmp(1, padded(bits), palette=palette[:2]), palette[two]
    yield 'BMP, 8 bits', bmp(8, padded([bytes(r.tolist()) for r in up]), palette=palette), colors
    runs = b''
    for r in up:   # the first three one by one, then runs of one; a row's end
        runs += bytes([0, 3, *r[:3].tolist(), 0]) + b''.join(bytes([1, v]) for v in r[3:].tolist()) + b'\0\0'
    yield 'BMP, runs of 8 bits', bmp(8, runs + b'\0\1', compression=1, palette=palette), colors
    pairs = np.array([[3] * WIDTH, [1, 2] * 3 + [1], [4, 5, 6, 7, 1, 1, 1], [0] * WIDTH, [0, 0, 9, 9, 9, 9, 9]])
    runs = (bytes([WIDTH, 0x33, 0, 0, WIDTH, 0x12, 0, 0]) + bytes([0, 4, 0x45, 0x67, 3, 0x11, 0, 0]) + bytes([WIDTH, 0, 0, 0])
            + bytes([0, 2, 2, 0, 5, 0x99, 0, 1]))
    yield 'BMP, runs of 4 bits', bmp(4, runs, compression=2, palette=palette), palette[pairs][::-1]
    b24 = [r[:, ::-1].tobytes() for r in COLORS]
    yield 'BMP, 24 bits', bmp(24, padded(b24[::-1])), COLORS
    yield 'BMP, 24 bits, from the top', bmp(24, padded(b24), from_top=True), COLORS
    five = COLORS >> 3
    words = (five[:, :, 0].astype('<u2') << 10 | five[:, :, 1].astype('<u2') << 5 | five[:, :, 2])
    spread = ((five.astype(int) * 255 + 15) // 31).astype(np.uint8)
    yield 'BMP, 16 bits', bmp(16, padded([r.astype('<u2').tobytes() for r in words[::-1]])), spread
    six = COLORS[:, :, 1] >> 2
    words = five[:, :, 0].astype('<u2') << 11 | six.astype('<u2') << 5 | five[:, :, 2]
    spread = np.stack([spread[:, :, 0], ((six.astype(int) * 255 + 31) // 63).astype(np.uint8), spread[:, :, 2]], 2)
    yield 'BMP, 5, 6 and 5 bits', bmp(16, padded([r.astype('<u2').tobytes() for r in words[::-1]]), compression=3,
                                     masks=[0xF800, 0x7E0, 0x1F]), spread
    alpha = np.concatenate([COLORS[:, :, ::-1], GRAY[:, :, None]], 2)
    yield 'BMP, 32 bits', bmp(32, alpha[::-1].tobytes()), COLORS


def pnms():
    head = f'# a comment\n{WIDTH} # another\n{HEIGHT}\n'
    bits = GRAY > 99
    black = np.where(bits, 0, 255).astype(np.uint8)
    text = lambda a: '\n'.join(' '.join(str(v) for v in r) for r in a.reshape(HEIGHT, -1).tolist()) + '\n'
    yield 'PBM, text', ('P1\n' + head + '\n'.join(''.join('01'[v] for v in r) for r in bits.tolist())).encode(), black
    yield 'PGM, text', ('P2\n' + head + '255\n' + text(GRAY)).encode(), GRAY
    yield 'PPM, text of 4 bits', ('P3\n' + head + '15\n' + text(COLORS >> 4)).encode(), (COLORS >> 4) * 17
    yield 'PBM', b'P4 7 5\n' + np.packbits(bits, axis=1).tobytes(), black
    yield 'PGM', b'P5 7 5 255\n' + GRAY.tobytes(), GRAY
    deep = COLORS.astype('>u2') * 257
    yield 'PPM', b'P6 7 5 255\n' + COLORS.tobytes(), COLORS
    yield 'PPM, 16 bits', b'P6 7 5 65535\n' + deep.tobytes(), COLORS


def others():
    yield 'PNG', saved(COLORS, 'PNG'), COLORS
    for form, options in (('raw', {}), ('tiff_lzw', {}), ('tiff_adobe_deflate', {}), ('packbits', {})):
        yield f'TIFF, {form}', saved(COLORS, 'TIFF', compression=form, **options), COLORS
    yield 'TIFF, gray', saved(GRAY, 'TIFF'), GRAY
    yield 'TIFF, group 4', saved(GRAY > 99, 'TIFF', compression='group4'), np.where(GRAY > 99, 255, 0)
    yield 'WebP, lossless', saved(COLORS, 'WEBP', lossless=True), COLORS
    lossy = saved(SMOOTH, 'WEBP', quality=90)
    yield 'WebP', lossy, np.array(Image.open(io.BytesIO(lossy)).convert('RGB'))
    yield 'JPEG 2000', saved(COLORS, 'JPEG2000'), COLORS
    yield 'JPEG 2000, the code stream alone', saved(COLORS, 'JPEG2000', no_jp2=True), COLORS
    yield 'JPEG 2000, gray', saved(GRAY, 'JPEG2000'), GRAY


def main():
    rows = ''
    for name, data, pixels in (*bmps(), *pnms(), *others()):
        pixels = np.asarray(pixels, np.uint8)
        if pixels.ndim == 2:
            pixels = np.repeat(pixels[:, :, None], 3, 2)
        if '16 bits' not in name and '5, 6' not in name:   # which Pillow rounds down
            assert np.array_equal(np.array(Image.open(io.BytesIO(data)).convert('RGB')), pixels), name
        assert pixels.shape == (HEIGHT, WIDTH, 3), name
        rows += f'    {{"{name}",\n     {literal(data)},\n     {literal(pixels.tobytes())}}},\n'
    PATH.write_text(f'''// Pictures of {WIDTH} x {HEIGHT} pixels as files, and their pixels, in base64.
// Written by tools/write_image_cases.py.
#pragma once

namespace tenfold::images {{

struct ImageCase {{
  const char *name, *file, *pixels;
}};

inline constexpr int kWidth = {WIDTH}, kHeight = {HEIGHT};
inline constexpr ImageCase kImages[] = {{
{rows}}};

}}  // namespace tenfold::images
''')


if __name__ == '__main__':
    main()
