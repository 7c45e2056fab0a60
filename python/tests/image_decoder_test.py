"""ImageDecoder beside Pillow: forms, channel orders, files that are damaged."""
import io
import unittest

import numpy as np
from case import Case, TensorProto, helper

import tenfold.onnxruntime

try:
    from PIL import Image
except ImportError:
    Image = None

RANDOM = np.random.default_rng(0)
COLORS = RANDOM.integers(0, 256, (13, 17, 3), np.uint8)


def session(pixel_format):
    node = helper.make_node('ImageDecoder', ['file'], ['image'], pixel_format=pixel_format)
    graph = helper.make_graph([node], 'g', [helper.make_tensor_value_info('file', TensorProto.UINT8, ['n'])],
                              [helper.make_tensor_value_info('image', TensorProto.UINT8, None)])
    proto = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid('', 20)]).SerializeToString()
    return tenfold.onnxruntime.InferenceSession(proto, providers=['CPUExecutionProvider'], tune='never')


@unittest.skipUnless(Image, 'Pillow is not installed')
class ImageDecoder(Case):
    def decoded(self, data, pixel_format='RGB'):
        with self.with_system_libraries():
            return session(pixel_format).run(None, {'file': np.frombuffer(data, np.uint8)})[0]

    def saved(self, form, **options):
        out = io.BytesIO()
        Image.fromarray(COLORS).save(out, form, **options)
        return out.getvalue()

    def test_every_form_and_order(self):
        for form, options in (('BMP', {}), ('PPM', {}), ('PNG', {}), ('JPEG', {'subsampling': 2}), ('TIFF', {'compression': 'tiff_lzw'}),
                              ('WEBP', {}), ('JPEG2000', {})):
            with self.subTest(form):
                data = self.saved(form, **options)
                image = Image.open(io.BytesIO(data)).convert('RGB')
                expected = np.array(image)
                np.testing.assert_array_equal(self.decoded(data), expected)
                np.testing.assert_array_equal(self.decoded(data, 'BGR'), expected[:, :, ::-1])
                np.testing.assert_array_equal(self.decoded(data, 'Grayscale'), np.array(image.convert('L'))[:, :, None])

    def test_what_cannot_be_read_has_no_pixels(self):
        for data in (b'GIF89a', self.saved('PNG')[:60], self.saved('BMP')[:60]):
            self.assertEqual(self.decoded(data).shape, (0, 0, 3))
            self.assertEqual(self.decoded(data, 'Grayscale').shape, (0, 0, 1))

    def test_a_format_that_is_none(self):
        with self.assertRaisesRegex(Exception, "pixel_format is 'HSV', RGB, BGR or Grayscale expected"):
            session('HSV')


if __name__ == '__main__':
    unittest.main()
