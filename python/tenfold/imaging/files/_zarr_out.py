"""Writing OME-Zarr 0.4 and 0.5 and plain Zarr: whole chunks or shards, a pyramid at the end, labels inside of their image."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
from typing import Any

import numpy as np

from tenfold.imaging.files import _ome_zarr
from tenfold.imaging.files._chunk_buffer import ChunkBuffer
from tenfold.imaging.files._errors import need, refuse, refuse_argument
from tenfold.imaging.files._pyramid import fill_level, level_shapes
from tenfold.imaging.files._replace import remove
from tenfold.imaging.files._sink import Target, Writer, check_partial
from tenfold.imaging.files._zarr import with_zarrs

USUAL_CHUNK = {'t': 1, 'c': 1, 'z': 32, 'y': 256, 'x': 256}
COMPRESSIONS = ('zstd', 'lz4', 'blosc', 'gzip', 'zlib', 'none')


def codecs(zarr: Any, name: str | None, version: int, path: str) -> Any:
    """As zarr-python wants them: `auto` is its default, Zstandard."""
    if name is None:
        return 'auto'
    if name not in COMPRESSIONS:
        refuse_argument(path, f'compress={name!r}', f'expected one of {", ".join(COMPRESSIONS)}')
    if name == 'none':
        return None
    if version == 2:
        numcodecs = need('numcodecs', path)
        return {'zstd': numcodecs.Zstd(level=3), 'lz4': numcodecs.Blosc('lz4', 5, numcodecs.Blosc.SHUFFLE), 'gzip': numcodecs.GZip(5),
                'blosc': numcodecs.Blosc('zstd', 3, numcodecs.Blosc.SHUFFLE), 'zlib': numcodecs.Zlib(5)}[name]
    blosc = zarr.codecs.BloscCodec
    return {'zstd': zarr.codecs.ZstdCodec(level=3), 'lz4': blosc(cname='lz4', clevel=5), 'blosc': blosc(cname='zstd', clevel=3),
            'gzip': zarr.codecs.GzipCodec(level=5), 'zlib': zarr.codecs.GzipCodec(level=5)}[name]


class ZarrWriter(Writer):
    def __init__(self, target: Target, version: str, ome: bool, label_of: str | None = None):
        self.axes, self._target, self._version, self._ome, self._label_of = target.axes, target, version, ome, label_of
        self._zarr = zarr = need('zarr', target.path)
        self._format = 3 if version == '0.5' else 2
        self._chunks, self._shards = self._pieces()
        self._codecs = codecs(zarr, target.compress, self._format, target.path)
        self.resumed = target.resume and os.path.exists(target.partial)
        with self._pipeline():
            self._array = self._reopened() if self.resumed else self._created()
        self._buffer = ChunkBuffer(target.shape, target.dtype, self._shards or self._chunks, self._put)

    def _pipeline(self) -> Any:
        """zarrs puts the chunks of a shard in the order in which its threads end. Outputs have the same bytes in every run."""
        return contextlib.nullcontext() if self._shards else with_zarrs(self._zarr)

    def _pieces(self) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        target = self._target
        if target.shards is not None and self._format == 2:
            refuse_argument(target.path, f'shards={list(target.shards)}, which Zarr 2 does not have',
                            'write format="ome-zarr" or "zarr"')
        chunks = target.chunks or tuple(USUAL_CHUNK[axis] for axis in target.axes)
        for name, given in (('chunks', chunks), ('shards', target.shards)):
            if given is not None and (len(given) != len(target.shape) or any(int(one) < 1 for one in given)):
                refuse_argument(target.path, f'{name}={list(given)}', f'give a number from 1 for each of the axes {target.axes!r}')
        if target.shards is None:
            return tuple(min(chunk, extent) for chunk, extent in zip(chunks, target.shape)), None
        if any(shard % chunk for shard, chunk in zip(target.shards, chunks)):
            refuse_argument(
                target.path, f'shards={list(target.shards)} of chunks={list(chunks)}', 'a shard is whole chunks along each axis'
            )
        return tuple(chunks), tuple(target.shards)

    def _created(self) -> Any:
        remove(self._target.partial)
        if self._ome:
            group = self._zarr.open_group(self._target.partial, mode='w-', zarr_format=self._format)
            return self._create(group.create_array, self._target.shape, name='0')
        return self._create(self._zarr.create_array, self._target.shape, store=self._target.partial, zarr_format=self._format)

    def _create(self, create: Any, shape: tuple[int, ...], **options: Any) -> Any:
        if self._format == 3:
            options['dimension_names'] = list(self.axes)
        else:
            options['chunk_key_encoding'] = {'name': 'v2', 'separator': '/'}
        if self._shards:
            options['shards'] = self._shards
        return create(shape=shape, dtype=self._target.dtype, chunks=self._chunks, compressors=self._codecs, fill_value=0, **options)

    def _reopened(self) -> Any:
        try:
            array = self._zarr.open_array(os.path.join(self._target.partial, '0') if self._ome else self._target.partial, mode='r+')
        except Exception as error:
            refuse(self._target.partial, f'resume: it cannot be opened ({error})', 'run it without resume', cause=error)
        expected = {'shape': self._target.shape, 'type': str(self._target.dtype), 'chunks': self._chunks, 'shards': self._shards}
        found = {'shape': array.shape, 'type': str(array.dtype), 'chunks': array.chunks, 'shards': array.shards}
        check_partial(self._target.partial, {**found, 'Zarr format': array.metadata.zarr_format}, {**expected, 'Zarr format': self._format})
        return array

    def _put(self, parts: tuple[slice, ...], array: np.ndarray) -> None:
        if self.resumed:
            self._remove_chunks(parts)
        self._array[parts] = array

    def _remove_chunks(self, parts: tuple[slice, ...]) -> None:
        """What a killed run may have written in part: a chunk that is clipped at the array's end would be read before it is written."""
        folder = os.path.join(self._target.partial, '0') if self._ome else self._target.partial
        pieces = self._shards or self._chunks
        touched = (range(part.start // piece, -(-part.stop // piece)) for part, piece in zip(parts, pieces))
        for index in itertools.product(*touched):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, self._array.metadata.encode_chunk_key(index)))

    def write(self, starts: tuple[int, ...], array: np.ndarray) -> None:
        self._buffer.write(starts, array)

    def pending(self, axis: str, within: tuple[str, int, int] | None = None) -> int | None:
        return self._buffer.pending(self.axes.index(axis), within and (self.axes.index(within[0]), *within[1:]))

    def chunk(self, axis: str) -> int:
        return (self._shards or self._chunks)[self.axes.index(axis)]

    def finish(self) -> None:
        if self._buffer.unfinished:
            refuse(self._target.path, f'{self._buffer.unfinished} chunks were written in part only', 'write each voxel once')
        if self._ome:
            self._finish_image()
        else:
            ours = _ome_zarr.ours_of(self._target.metadata)
            names = {'_ARRAY_DIMENSIONS': list(self.axes)} if self._format == 2 else {}
            self._array.attrs.update({**names, **({_ome_zarr.OURS: ours} if ours else {})})

    def _finish_image(self) -> None:
        target = self._target
        shapes, steps = self._levels()
        with self._pipeline():
            group = self._zarr.open_group(target.partial, mode='r+')
            below = self._array
            for number, shape in enumerate(shapes[1:], 1):
                remove(os.path.join(target.partial, str(number)))   # a run that was killed here has begun it
                level = self._create(group.create_array, shape, name=str(number))
                fill_level(below, level, target.dtype.kind == 'f')
                below = level
        levels = [(str(number), step) for number, step in enumerate(steps)]
        name = os.path.basename(target.path.rstrip('/'))
        group.attrs.update(_ome_zarr.image_attributes(name, target.metadata, self.axes, levels, self._version, target.dtype,
                                                      self._label_of))

    def _levels(self) -> tuple[list[tuple[int, ...]], list[list[dict[str, Any]]]]:
        shapes = level_shapes(self._target.shape, self.axes, self._target.metadata)
        return shapes, [_ome_zarr.transformations(self._target.metadata, self.axes, ratios_of(shape, self._target.shape, self.axes))
                        for shape in shapes]


def ratios_of(shape: tuple[int, ...], full: tuple[int, ...], axes: str) -> dict[str, float]:
    """How many voxels of the image one of a level stands for: a power of two, also where an odd extent was rounded up."""
    found = {}
    for axis, extent, whole in zip(axes, shape, full):
        ratio = 1
        while -(-whole // ratio) > extent:
            ratio *= 2
        if ratio > 1:
            found[axis] = float(ratio)
    return found


class LabelWriter(ZarrWriter):
    """`IMAGE/labels/NAME`: with the levels that the image has, and named in the list of its labels."""

    def __init__(self, target: Target, image: str):
        zarr = need('zarr', target.path)
        try:
            group = zarr.open_group(image, mode='r')
        except Exception as error:
            refuse(image, f'no OME-Zarr image to put labels into ({error})', 'give an image that is there, or an output without /labels/',
                   cause=error)
        attributes = {**dict(group.attrs), **dict(group.attrs).get('ome', {})}
        if 'multiscales' not in attributes:
            refuse(image, 'a Zarr without "multiscales"', 'labels go into an OME-Zarr image; write them elsewhere')
        if target.dtype.kind not in 'ui':
            refuse_argument(target.path, f'labels of {target.dtype}',
                            'labels are integers: reduce by argmax or threshold, or write an output of its own')
        self._image, self._group, self._multiscale = image, group, _ome_zarr.multiscales_in(attributes, image)[0]
        os.makedirs(os.path.dirname(target.path), exist_ok=True)
        super().__init__(target, '0.5' if group.metadata.zarr_format == 3 else '0.4', True, '../../')

    def _levels(self) -> tuple[list[tuple[int, ...]], list[list[dict[str, Any]]]]:
        """The image's, if its axes in space are those of the labels; else of their own."""
        datasets = self._multiscale['datasets']
        arrays = [self._group[one['path']] for one in datasets]
        own = _ome_zarr.axes_in(self._multiscale, arrays[0].ndim) or ''
        extents = [dict(zip(own, array.shape)) for array in arrays]
        if any(extents[0].get(axis) != extent for axis, extent in zip(self.axes, self._target.shape) if axis in 'zyx'):
            return super()._levels()
        shapes = [tuple(there[axis] if axis in 'zyx' else extent for axis, extent in zip(self.axes, self._target.shape))
                  for there in extents]
        found = [_ome_zarr.metadata_in(self._multiscale, one, own, {}) for one in datasets]
        return shapes, [_ome_zarr.transformations(one, self.axes, {}) for one in found]

    def publish(self) -> None:
        """The list of an image's labels, replaced in one step: another process may read it."""
        folder, name = os.path.split(self._target.path)
        node = os.path.join(folder, 'zarr.json' if self._format == 3 else '.zattrs')
        content: dict[str, Any] = {}
        if os.path.exists(node):
            with open(node) as file:
                content = json.load(file)
        if self._format == 3:
            content = content or {'zarr_format': 3, 'node_type': 'group', 'attributes': {}}
            where = content.setdefault('attributes', {}).setdefault('ome', {'version': '0.5'})
        else:
            where = content
            if not os.path.exists(os.path.join(folder, '.zgroup')):
                write_json(os.path.join(folder, '.zgroup'), {'zarr_format': 2})
        where['labels'] = sorted({*where.get('labels', []), name})
        write_json(node, content)


def write_json(path: str, value: object) -> None:
    new = path + '.new'
    with contextlib.ExitStack() as undo:
        undo.callback(remove, new)
        with open(new, 'w') as file:
            json.dump(value, file, indent=2)
        os.replace(new, path)


def image_above(path: str) -> str | None:
    """The OME-Zarr image of `IMAGE/labels/NAME`."""
    folder = os.path.dirname(path)
    return os.path.dirname(folder) if os.path.basename(folder) == 'labels' else None


def create_ome_zarr(target: Target, version: str | None = None) -> Writer:
    image = image_above(target.path)
    if image is not None:
        return LabelWriter(target, image)
    return ZarrWriter(target, version or '0.5', True)


def create_ome_zarr_04(target: Target) -> Writer:
    return create_ome_zarr(target, '0.4')


def create_zarr(target: Target) -> Writer:
    return ZarrWriter(target, '0.5', False)


def create_zarr_2(target: Target) -> Writer:
    return ZarrWriter(target, '0.4', False)
