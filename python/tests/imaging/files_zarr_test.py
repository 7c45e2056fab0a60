"""Zarr and OME-Zarr: read again by zarr-python and ome-zarr, chunks and shards written once, pyramids, labels; and files of others."""
import functools
import http.server
import importlib.util
import itertools
import json
import os
import threading
import unittest
from unittest import mock

import numpy as np
from files_case import GIVEN, TYPES, FilesCase, image, needs, open_sink, open_source, write

VERSIONS = (('ome-zarr', '0.5', 3), ('ome-zarr-0.4', '0.4', 2))


def attributes(zarr, path):
    found = dict(zarr.open_group(path, mode='r').attrs)
    return found.get('ome', found)


def scales(said):
    return [next(step['scale'] for step in one['coordinateTransformations'] if step['type'] == 'scale') for one in said['datasets']]


@needs('zarr')
class Zarr(FilesCase):
    def test_zarr_reads_what_we_wrote(self):
        import zarr
        array_of = {'zarr': '', 'zarr-2': '', 'ome-zarr': '/0', 'ome-zarr-0.4': '/0'}
        for name, inner in array_of.items():
            for dtype in TYPES:
                for compress in (None, 'zstd', 'lz4', 'blosc', 'gzip', 'none') if dtype == 'uint16' else (None,):
                    with self.subTest(format=name, dtype=dtype, compress=compress):
                        array = image((2, 9, 33, 47), dtype)
                        path = write(
                            self.path('a.zarr'), array, 'czyx', chunks=(1, 4, 16, 16), format=name, compress=compress, overwrite=True
                        )
                        found = zarr.open_array(path + inner, mode='r')
                        self.assertEqual((found.dtype, found.chunks, found.metadata.zarr_format),
                                         (array.dtype, (1, 4, 16, 16), 2 if name in ('zarr-2', 'ome-zarr-0.4') else 3))
                        self.assertEqual(len(found.compressors), compress != 'none')
                        np.testing.assert_array_equal(found[:], array)
                        self.assertEqual(self.reads(path, array).axes, 'czyx')

    def test_we_read_what_zarr_wrote(self):
        import zarr
        for version, dtype, order in itertools.product((2, 3), ('>u2', '<i2', '>f8', 'u1'), 'CF'):
            with self.subTest(version=version, dtype=dtype, order=order):
                array = image((9, 20, 30), 'uint8').astype(dtype)
                made = zarr.create_array(self.path('b.zarr'), shape=array.shape, dtype=array.dtype, chunks=(4, 8, 16), zarr_format=version,
                                         overwrite=True, **({'order': order} if version == 2 else {}))
                made[:] = array
                source = self.reads(self.path('b.zarr'), array)
                self.assertEqual((source.axes, source.chunks), ('zyx', (4, 8, 16)))

    def test_shards(self):
        import zarr
        array = image((2, 20, 40, 50))
        path = write(self.path('s.zarr'), array, 'czyx', chunks=(1, 4, 16, 16), shards=(1, 8, 32, 32))
        found = zarr.open_array(path + '/0', mode='r')
        self.assertEqual((found.chunks, found.shards), ((1, 4, 16, 16), (1, 8, 32, 32)))
        np.testing.assert_array_equal(found[:], array)
        self.assertEqual(self.reads(path, array).chunks, (1, 8, 32, 32))
        self.assertEqual(len([name for _, _, names in os.walk(path + '/0') for name in names if name != 'zarr.json']), 2 * 3 * 2 * 2)
        self.refused(
            ValueError, ['shards', 'whole chunks'], open_sink, self.path('t.zarr'), (8, 8), 'u1', axes='yx', chunks=(3, 3), shards=(4, 4)
        )
        self.refused(ValueError, ['shards', 'Zarr 2'], open_sink, self.path('t.zarr'), (8, 8), 'u1', axes='yx', shards=(4, 4),
                     format='ome-zarr-0.4')

    def test_each_chunk_is_written_once_and_soon(self):
        from tenfold.imaging.files._zarr_out import ZarrWriter
        array, put = image((2, 21, 40, 50)), []
        write_of = ZarrWriter._put
        with mock.patch.object(ZarrWriter, '_put', lambda self, parts, piece: (put.append(parts), write_of(self, parts, piece))):
            with open_sink(self.path('once.zarr'), array.shape, array.dtype, axes='czyx', chunks=(1, 8, 16, 16)) as sink:
                pending = []
                for z in range(0, 21, 3):
                    sink.write((0, z, 0, 0), array[:, z:z + 3])
                    pending.append(sink.pending('z'))
        self.assertEqual(pending, [0, 0, 8, 8, 8, 16, None])   # only planes of a chunk that is not whole would be lost
        times = np.zeros(array.shape, int)
        for parts in put:
            times[parts] += 1
            for part, chunk, extent in zip(parts, (1, 8, 16, 16), array.shape):
                self.assertTrue(part.start % chunk == 0 and (part.stop % chunk == 0 or part.stop == extent), parts)
        self.assertTrue((times == 1).all())
        self.reads(self.path('once.zarr'), array)

    def test_whole_slabs_are_written_by_one_call(self):
        from tenfold.imaging.files._zarr_out import ZarrWriter
        with mock.patch.object(ZarrWriter, '_put') as put:
            sink = open_sink(self.path('slab.zarr'), (20, 40, 50), 'uint16', axes='zyx', chunks=(8, 16, 16))
            sink.write((0, 0, 0), image((16, 40, 50)))
            sink.write((16, 0, 0), image((4, 40, 50)))
            sink.abandon()
        self.assertEqual(put.call_count, 2)

    @needs('zarrs')
    def test_zarrs_is_used_and_zarr_is_left_as_it_was(self):
        import zarr
        before = zarr.config.get('codec_pipeline.path')
        from tenfold.imaging.files._zarr_out import ZarrWriter
        seen, create = [], ZarrWriter._created
        with mock.patch.object(ZarrWriter, '_created', lambda self: seen.append(create(self)) or seen[-1]):
            write(self.path('z.zarr'), image((4, 20, 30)), 'zyx')
        self.assertEqual(type(seen[0]._async_array.codec_pipeline).__name__, 'ZarrsCodecPipeline')
        with open_source(self.path('z.zarr')) as source:
            array = source._stored.read.__closure__[0].cell_contents
            self.assertEqual(type(array._async_array.codec_pipeline).__name__, 'ZarrsCodecPipeline')
        self.assertEqual(zarr.config.get('codec_pipeline.path'), before)

    def test_without_zarrs(self):
        import zarr
        find = importlib.util.find_spec
        with mock.patch('importlib.util.find_spec', lambda name, *rest: None if name == 'zarrs' else find(name, *rest)):
            write(self.path('w.zarr'), image((4, 20, 30)), 'zyx', chunks=(2, 8, 8), shards=(4, 16, 16))
            source = self.reads(self.path('w.zarr'), image((4, 20, 30)))
        array = source._stored.read.__closure__[0].cell_contents
        self.assertEqual(type(array._async_array.codec_pipeline).__module__.partition('.')[0], zarr.__name__)

    def test_plain_arrays_say_their_axes(self):
        import zarr
        array = image((3, 20, 30))
        for version, given in (
            (3, {'dimension_names': ['channel', 'Y', 'x']}),
            (2, {'attributes': {'_ARRAY_DIMENSIONS': ['c', 'y', 'x']}}),
        ):
            made = zarr.create_array(self.path(f'n{version}.zarr'), shape=array.shape, dtype=array.dtype, zarr_format=version, **given)
            made[:] = array
            self.assertEqual(self.reads(self.path(f'n{version}.zarr'), array).axes, 'cyx')
        for name in ('zarr', 'zarr-2'):
            with open_source(write(self.path(name + '.zarr'), array, 'zyx', like=GIVEN, format=name)) as source:
                self.assertEqual((source.metadata.spacing, source.metadata.units), (GIVEN.spacing, GIVEN.units))


@needs('zarr')
class OmeZarr(FilesCase):
    def test_metadata_and_pyramid(self):
        import zarr
        array = image((2, 10, 201, 160), 'float32')
        for name, version, number in VERSIONS:
            with self.subTest(format=name):
                path = write(self.path(version + '.zarr'), array, 'czyx', like=GIVEN, chunks=(1, 4, 64, 64), format=name)
                said = attributes(zarr, path)
                multiscale = said['multiscales'][0]
                self.assertEqual(said['version'] if version == '0.5' else multiscale['version'], version)
                self.assertEqual(
                    multiscale['axes'],
                    [{'name': 'c', 'type': 'channel'}, *({'name': axis, 'type': 'space', 'unit': 'micrometer'} for axis in 'zyx')],
                )
                arrays = [zarr.open_array(f'{path}/{one["path"]}', mode='r') for one in multiscale['datasets']]
                self.assertEqual([one.shape for one in arrays], [(2, 10, 201, 160), (2, 10, 201, 80), (2, 10, 101, 40), (2, 10, 51, 20)])
                self.assertEqual(scales(multiscale), [[1, 2, 0.5, 0.25], [1, 2, 0.5, 0.5], [1, 2, 1, 1], [1, 2, 2, 2]])
                np.testing.assert_allclose(arrays[1][:], (array[..., ::2] + array[..., 1::2]) / 2, rtol=1e-6)
                below = (array[..., ::4] + array[..., 1::4] + array[..., 2::4] + array[..., 3::4]) / 4
                np.testing.assert_allclose(arrays[2][:, :, :100], (below[:, :, 0:200:2] + below[:, :, 1:200:2]) / 2, rtol=1e-5, atol=1e-3)
                np.testing.assert_allclose(arrays[2][:, :, 100], below[:, :, 200], rtol=1e-5, atol=1e-3)
                with open_source(path) as source:
                    self.assertEqual((source.metadata.spacing, source.metadata.origin), (GIVEN.spacing, GIVEN.origin))
                source = self.reads(path, arrays[2][:], level=2)
                self.assertEqual((source.spacing, source.origin), ((1, 2, 1, 1), (0, 1.0, 5.25, -2.625)))   # of the voxel's middle

    def test_integers_take_the_nearest(self):
        import zarr
        array = image((9, 130, 131))
        path = write(self.path('i.zarr'), array, 'zyx', chunks=(4, 32, 32))
        levels = [zarr.open_array(f'{path}/{one["path"]}', mode='r')[:] for one in attributes(zarr, path)['multiscales'][0]['datasets']]
        self.assertEqual([level.shape for level in levels], [(9, 130, 131), (5, 65, 66), (3, 33, 33)])
        np.testing.assert_array_equal(levels[1], array[::2, ::2, ::2])
        np.testing.assert_array_equal(levels[2], levels[1][::2, ::2, ::2])

    def test_labels(self):
        import zarr
        for (name, version, number), resume in itertools.product(VERSIONS, (False, True)):
            with self.subTest(format=name, resume=resume):
                path = self.path(f'{version}{resume}.zarr')
                array = image((2, 6, 150, 130))
                write(path, array, 'czyx', like=GIVEN, format=name)
                labels = (image((6, 150, 130), seed=3) % 5).astype(np.uint8)
                with open_source(path, channel=1) as source:
                    for label in ('cells', 'nuclei'):
                        write(f'{path}/labels/{label}', labels, 'zyx', like=source, resume=resume)
                    self.refused(
                        ValueError, ['there already', 'overwrite'], open_sink, f'{path}/labels/cells', labels.shape, 'u1', axes='zyx'
                    )
                self.assertEqual(attributes(zarr, path + '/labels')['labels'], ['cells', 'nuclei'])
                said = attributes(zarr, path + '/labels/cells')
                self.assertEqual(said['image-label']['source'], {'image': '../../'})
                found, whole = said['multiscales'][0], attributes(zarr, path)['multiscales'][0]
                self.assertEqual([scale[1:] for scale in scales(whole)], scales(found))
                levels = [zarr.open_array(f'{path}/labels/cells/{one["path"]}', mode='r')[:] for one in found['datasets']]
                self.assertEqual([level.shape for level in levels],
                                 [zarr.open_array(f'{path}/{one["path"]}', mode='r').shape[1:] for one in whole['datasets']])
                np.testing.assert_array_equal(levels[0], labels)
                np.testing.assert_array_equal(levels[1], labels[:, :, ::2])   # the finest axis first
                self.assertEqual(zarr.open_group(path + '/labels/cells', mode='r').metadata.zarr_format, number)
                self.reads(path, array)
                write(f'{path}/labels/nuclei', labels + 1, 'zyx', overwrite=True)
                self.reads(f'{path}/labels/nuclei', labels + 1)
                self.assertEqual(self.reads(path + '/labels/cells', labels).spacing, (2.0, 0.5, 0.25))
                self.assertEqual([one for one in os.listdir(path + '/labels') if 'partial' in one or 'new' in one], [])

    def test_labels_of_pyramids_that_others_made(self):
        import zarr
        path = self.path('others.zarr')
        group = zarr.open_group(path, mode='w', zarr_format=2)
        shapes = [(7, 101, 99), (7, 50, 49), (7, 25, 24)]   # rounded down
        for number, shape in enumerate(shapes):
            group.create_array(str(number), shape=shape, dtype='u1', chunks=(7, 32, 32))
        group.attrs['multiscales'] = [
            {
                'version': '0.4',
                'axes': [{'name': axis, 'type': 'space'} for axis in 'zyx'],
                'datasets': [
                    {'path': str(number), 'coordinateTransformations': [{'type': 'scale', 'scale': [1, 2**number, 2**number]}]}
                    for number in range(3)
                ],
            }
        ]
        labels = (image((7, 101, 99)) % 4).astype(np.uint8)
        write(path + '/labels/l', labels, 'zyx')
        for number, shape in enumerate(shapes):
            found = zarr.open_array(f'{path}/labels/l/{number}', mode='r')
            self.assertEqual(found.shape, shape)
            self.assertTrue(set(np.unique(found[:])) <= {0, 1, 2, 3})
        self.refused(ValueError, ['float32', 'integers'], open_sink, path + '/labels/f', labels.shape, 'float32', axes='zyx')
        self.refused(
            OSError, ['none.zarr', 'no OME-Zarr image'], open_sink, self.path('none.zarr/labels/l'), labels.shape, 'u1', axes='zyx'
        )

    @needs('ome_zarr')
    def test_ome_zarr_reads_it(self):
        from ome_zarr.io import parse_url
        from ome_zarr.reader import Reader
        array, labels = image((2, 5, 150, 130)), image((5, 150, 130), 'uint8')
        for name, version, _ in VERSIONS:
            with self.subTest(format=name):
                path = write(self.path(version + '.zarr'), array, 'czyx', like=GIVEN, format=name)
                write(path + '/labels/cells', labels, 'zyx', like=GIVEN)
                nodes = list(Reader(parse_url(path))())
                self.assertEqual(len(nodes[0].data), 4)
                np.testing.assert_array_equal(np.asarray(nodes[0].data[0]), array)
                found = next(node for node in nodes if node.zarr.path.endswith('cells') or 'cells' in str(node.zarr))
                np.testing.assert_array_equal(np.asarray(found.data[0]), labels)

    @needs('ome_zarr_models')
    def test_the_models_of_its_specification_accept_it(self):
        import zarr
        from ome_zarr_models import v04, v05
        given = type(GIVEN)(GIVEN.spacing, GIVEN.origin, GIVEN.units, np.diag([0.25, 0.5, 2, 1]), ['DNA', 'membranes'])
        for (name, version, _), models in zip(VERSIONS, (v05, v04)):
            with self.subTest(format=name):
                path = write(self.path(version + '.zarr'), image((2, 5, 150, 130)), 'czyx', like=given, format=name)
                write(path + '/labels/cells', image((5, 150, 130), 'uint8'), 'zyx', like=given)
                group = zarr.open_group(path, mode='r')
                self.assertEqual(len(models.Image.from_zarr(group).datasets[0]), 4)
                models.ImageLabel.from_zarr(group['labels/cells'])
                models.Labels.from_zarr(group['labels'])

    @needs('ome_zarr')
    def test_we_read_what_ome_zarr_wrote(self):
        import zarr
        from ome_zarr.format import FormatV04, FormatV05
        from ome_zarr.writer import write_image
        array = image((2, 6, 128, 100))
        for version, format in ((2, FormatV04()), (3, FormatV05())):
            path = self.path(f'theirs{version}.zarr')
            group = zarr.open_group(path, mode='w', zarr_format=version)
            write_image(array, group, axes='czyx', fmt=format)
            source = self.reads(path, array)
            self.assertEqual(source.axes, 'czyx')
            with open_source(path, level=1) as coarse:
                self.assertEqual(coarse.shape[2:], (64, 50))
                self.assertEqual(coarse.spacing[2:], (2.0, 2.0))

    def test_scenes_plates_and_groups(self):
        import zarr
        one, two = image((4, 20, 30)), image((3, 10, 11), seed=2)
        group = zarr.open_group(self.path('many.zarr'), mode='w')
        group.attrs['ome'] = {'bioformats2raw.layout': 3, 'version': '0.5'}
        for number, array in enumerate((one, two)):
            write(self.path(f'many.zarr/{number}'), array, 'zyx', format='ome-zarr')
        self.reads(self.path('many.zarr'), one)
        self.reads(self.path('many.zarr'), two, scene=1)
        self.refused(ValueError, ['scene=2', '2 scenes'], open_source, self.path('many.zarr'), scene=2)
        self.refused(ValueError, ['level=3', 'levels'], open_source, self.path('many.zarr'), level=3)
        plate = zarr.open_group(self.path('plate.zarr'), mode='w')
        plate.attrs['ome'] = {'plate': {'wells': [{'path': 'B/2'}]}}
        self.refused(OSError, ['plate', 'B/2/0'], open_source, self.path('plate.zarr'))
        zarr.open_group(self.path('empty.zarr'), mode='w')
        self.refused(OSError, ['empty.zarr', 'multiscales'], open_source, self.path('empty.zarr'))

    @needs('aiohttp')
    def test_addresses(self):
        array = image((4, 40, 50))
        write(self.path('web.zarr'), array, 'zyx', like=GIVEN, chunks=(2, 16, 16), format='ome-zarr-0.4')

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *words):
                pass
        with http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=self.folder)) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                address = f'http://127.0.0.1:{server.server_port}'
                self.assertEqual(self.reads(address + '/web.zarr', array).spacing, (2.0, 0.5, 0.25))
                self.refused(OSError, ['none.zarr', 'no Zarr'], open_source, address + '/none.zarr')
            finally:
                server.shutdown()
                thread.join()

    def test_damaged(self):
        path = write(self.path('d.zarr'), image((8, 40, 50)), 'zyx', chunks=(4, 16, 16))
        chunk = path + '/0/c/0/0/0'
        with open(chunk, 'rb') as file:
            data = file.read()
        with open(chunk, 'wb') as file:
            file.write(data[:len(data) // 2])
        with open_source(path) as source:
            self.refused(OSError, ['d.zarr', 'reading z 0:2', 'cut or damaged'], source.read, (0, 0, 0), (2, 2, 2))
            source.read((4, 0, 0), (8, 2, 2))
        os.unlink(path + '/0/zarr.json')
        self.refused(OSError, ['d.zarr', "'0'", 'not there'], open_source, path)
        with open(path + '/zarr.json', 'w') as file:
            json.dump({'zarr_format': 3, 'node_type': 'group', 'attributes': {'ome': {'multiscales': []}}}, file)
        self.refused(OSError, ['d.zarr', 'multiscales'], open_source, path)
        os.unlink(path + '/zarr.json')
        self.refused(OSError, ['d.zarr', 'zarr.json'], open_source, path)


if __name__ == '__main__':
    unittest.main()
