"""Lines of public scripts for TensorRT mean here what they mean there; names and forms are those of its own module."""
import os
import unittest

import numpy as np
from case import WEIGHTS, Case, batch, model, numpy_helper, onnx, python, tanh_model
from layers_case import RANDOM, Layers
from tensorrt_case import Lines, parsed, tanh_build

import tenfold
import tenfold.tensorrt as trt


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def at(array, kind):
    return trt.Weights(kind, array.ctypes.data, array.size)


class Weights(Layers):
    def test_its_three_forms(self):
        a = np.arange(6, dtype=np.float32)
        for made in (trt.Weights(trt.float32, a.ctypes.data, 6), trt.Weights(type=trt.float32, ptr=a.ctypes.data, count=6),
                     trt.Weights(a=a), trt.Weights(a.reshape(2, 3))):
            self.assertEqual((made.size, len(made), made.nbytes, made.dtype), (6, 6, 24, trt.float32))
            np.testing.assert_array_equal(made.numpy(), a)   # in one dim, as TensorRT's
            self.assertEqual(made.numpy().ctypes.data, a.ctypes.data)
        for made, kind in ((trt.Weights(), trt.float32), (trt.Weights(trt.int8), trt.int8), (trt.Weights(trt.float32, 0, 0), trt.float32)):
            self.assertEqual((made.size, made.dtype, made.numpy().size), (0, kind, 0))

    def test_what_is_no_form(self):
        self.refused(ValueError, 'no such elements', trt.Weights, trt.float32, 0, 4)
        self.refused(ValueError, 'no such elements', trt.Weights, trt.float32, 64, -1)
        self.refused(TypeError, 'one of them is missing', trt.Weights, trt.float32, 64)
        self.refused(TypeError, 'an array', trt.Weights, 'kernel')

    def test_halves_that_numpy_lacks(self):
        """BF16 and FP8 come back as Weights, as TensorRT's do."""
        bits = np.array([0x3f80, 0x4000], np.uint16)
        made = at(bits, trt.bfloat16)
        self.assertIs(made.numpy(), made)
        constant = self.network.add_constant((2,), made)
        self.near(self.results(self.network.add_cast(constant.get_output(0), trt.float32))[0], [1, 2])

    def test_four_bits_two_in_a_byte(self):
        packed = np.array([0x10, 0x32, 0xf8], np.uint8)
        weights = trt.Weights(trt.int4, packed.ctypes.data, 6)
        self.assertEqual((weights.size, weights.nbytes), (6, 3))
        constant = self.network.add_constant((2, 3), weights)
        self.assertEqual(constant.get_output(0).dtype, trt.int4)
        scale = self.network.add_constant((2,), np.float32([1, 10]))
        layer = self.network.add_dequantize(constant.get_output(0), scale.get_output(0), trt.float32)
        layer.axis = 0
        self.near(self.results(layer)[0], [[0, 1, 2], [30, -80, -10]])

    def test_four_bits_of_ml_dtypes(self):
        import ml_dtypes
        given = np.arange(-8, 7).astype(ml_dtypes.int4).reshape(3, 5)
        constant = self.network.add_constant((3, 5), trt.Weights(given))
        np.testing.assert_array_equal(constant.weights._array.astype(np.int8), given.astype(np.int8))
        scale = self.network.add_constant((), np.float32(0.5))
        self.near(self.results(self.network.add_dequantize(constant.get_output(0), scale.get_output(0), trt.float32))[0],
                  given.astype(np.float32) / 2)

    def test_a_convolution_from_addresses_and_without_a_bias(self):
        kernel, x = np.ascontiguousarray(random(4, 3, 3, 3)), random(1, 3, 5, 5)
        layer = self.network.add_convolution_nd(self.input(x), 4, (3, 3), at(kernel, trt.float32), bias=trt.Weights())
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
        self.near(self.results(layer)[0], np.einsum('nchwij,mcij->nmhw', windows, kernel), 1e-4)
        np.testing.assert_array_equal(layer.kernel, kernel.reshape(-1))
        self.assertEqual(layer.bias.size, 0)

    def test_constants_of_no_elements(self):
        layer = self.network.add_constant((0, 4), np.zeros((0, 4), np.int32))
        self.assertEqual((layer.get_output(0).shape, layer.get_output(0).dtype), ((0, 4), trt.int32))
        self.assertEqual(self.results(layer)[0].shape, (0, 4))
        empty = self.network.add_constant((2, 0), trt.Weights())
        self.assertEqual((empty.get_output(0).shape, empty.get_output(0).dtype), ((2, 0), trt.float32))


class Shapes(unittest.TestCase):
    def test_a_slice_is_a_tuple(self):
        shape = trt.Dims((2, 3, 4))
        self.assertIs(type(shape[1:]), tuple)
        self.assertEqual(((1,) + shape[1:], shape[0], shape[-1]), ((1, 3, 4), 2, 4))

    def test_keywords_of_both_forms(self):
        self.assertEqual((trt.Dims2(dim0=1, dim1=2), trt.Dims3(shape=(1, 2, 3)), trt.DimsHW(h=4, w=5), trt.Dims4(1, 2, 3, 4), trt.DimsHW()),
                         ((1, 2), (1, 2, 3), (4, 5), (1, 2, 3, 4), (0, 0)))
        for call in (lambda: trt.Dims2(1, 2, 3), lambda: trt.DimsHW(h=1)):
            self.assertRaises(ValueError, call)
        for call in (lambda: trt.Dims2(height=1), lambda: trt.DimsHW(3, h=5), lambda: trt.Dims3(1, dim0=7, dim1=8)):
            self.assertRaises(TypeError, call)


class Scripts(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()

    def test_with_blocks_of_everything(self):
        with trt.Logger(trt.Logger.ERROR) as logger, trt.Builder(logger) as builder, builder.create_network(1) as network, \
                builder.create_builder_config() as config, trt.OnnxParser(network, logger) as parser, trt.Runtime(logger) as runtime:
            self.assertTrue(parser.parse(tanh_model().SerializeToString()))
            network.get_input(0).shape = (4, 6)
            config.builder_optimization_level = 0
            with builder.build_serialized_network(network, config) as plan, runtime.deserialize_cuda_engine(plan) as engine, \
                    engine.create_execution_context() as context:
                self.assertEqual(context.get_tensor_shape('y'), (4, 4))

    def test_weights_beside_bytes(self):
        """As torch exports them, and as most scripts read them: parser.parse(f.read()), in the folder or with the path."""
        onnx.save(tanh_model(), self.path('m.onnx'), save_as_external_data=True, location='m.onnx.data', size_threshold=0)
        with open(self.path('m.onnx'), 'rb') as f:
            text = f.read()
        here = os.getcwd()
        self.addCleanup(os.chdir, here)

        def parse(*arguments, **keywords):
            network = trt.Builder(self.logger).create_network()
            parser = trt.OnnxParser(network, self.logger)
            return parser.parse(text, *arguments, **keywords) and parser.supports_model(text, *arguments, **keywords)[0]
        os.chdir('/')
        self.assertFalse(parse())
        self.assertIn('m.onnx.data', self.logger.errors[-1])
        self.assertTrue(parse(self.path('m.onnx')) and parse(path=self.path('m.onnx')))
        os.chdir(self.folder)
        self.assertTrue(parse(), self.logger.errors)
        builder, network, config = tanh_build(self.logger)
        config.set_flag(trt.BuilderFlag.REFIT)
        engine = builder.build_engine_with_config(network, config)
        refitter = trt.Refitter(engine, self.logger)
        self.assertTrue(trt.OnnxParserRefitter(refitter, self.logger).refit_from_bytes(text), self.logger.errors)

    def test_the_extension_inside_the_package(self):
        code = ('from tenfold.tensorrt import install; install()\n'
                'import tensorrt.tensorrt as inner, tensorrt as trt\n'
                'from tensorrt.tensorrt import Builder\n'
                'assert Builder is trt.Builder is inner.Builder is trt.tensorrt.Builder; print("alike")')
        self.assertEqual(python(code).stdout, 'alike\n')

    def test_refits_by_address(self):
        builder, network, config = tanh_build(self.logger)
        config.set_flag(trt.BuilderFlag.REFIT)
        engine = builder.build_engine_with_config(network, config)
        refitter, other = trt.Refitter(engine, self.logger), np.ascontiguousarray(2 * WEIGHTS)
        for location in trt.TensorLocation:   # the device is the CPU
            self.assertTrue(refitter.set_named_weights('w', at(other, trt.float32), location), self.logger.errors)
            self.assertEqual(refitter.get_weights_location('w'), location)
        self.assertTrue(refitter.set_named_weights(name='w', weights=at(other, trt.float32), location=trt.TensorLocation.HOST))
        self.assertTrue(refitter.refit_cuda_engine())
        self.near(engine._engine(batch()), np.tanh(batch() @ (2 * WEIGHTS)), 1e-3)

    def test_types_of_tensors_before_they_are_outputs(self):
        network = parsed(self.logger, tanh_model())
        tensor = network.get_layer(0).get_output(0)
        tensor.dtype = trt.float16
        network.mark_output(tensor)
        network.get_input(0).shape = (4, 6)
        config = network.builder.create_builder_config()
        config.builder_optimization_level = 0
        engine = network.builder.build_engine_with_config(network, config)
        self.assertEqual(engine.get_tensor_dtype(tensor.name), trt.float16)
        network.unmark_output(tensor)
        self.assertIsNotNone(network.builder.build_engine_with_config(network, config))
        self.assertIn('it is neither input nor output', self.logger.warnings[-1])

    def test_types_of_results_that_are_made_anew(self):
        network = trt.Builder(self.logger).create_network()
        x = network.add_input('x', trt.float32, (2, 3))
        layer = network.add_activation(x, trt.ActivationType.RELU)
        layer.get_output(0).dtype = trt.float16
        network.mark_output(layer.get_output(0))
        layer.type = trt.ActivationType.TANH
        engine = network.builder.build_engine_with_config(network, network.builder.create_builder_config())
        self.assertEqual(engine.get_tensor_dtype(engine.get_tensor_name(1)), trt.float16)

    def test_allocators_of_8(self):
        class Old(trt.IGpuAllocator):
            freed = None

            def free(self, memory):
                self.freed = memory
        old = Old()
        self.assertTrue(old.deallocate(64) and old.freed == 64)
        self.refused(NotImplementedError, 'deallocate()', trt.IGpuAllocator().free, 64)

    def test_a_dla_that_is_not_there(self):
        config, runtime = trt.Builder(self.logger).create_builder_config(), trt.Runtime(self.logger)
        config.DLA_core, runtime.DLA_core = 0, 0
        config.set_memory_pool_limit(trt.MemoryPoolType.DLA_MANAGED_SRAM, 1 << 20)
        self.assertEqual(config.get_memory_pool_limit(trt.MemoryPoolType.DLA_MANAGED_SRAM), 1 << 20)
        self.refused(tenfold.Unsupported, 'DLA', setattr, config, 'default_device_type', trt.DeviceType.DLA)


class Casts(Case):
    """layer.__class__ = trt.IConvolutionLayer, of layers that were added and of those that were parsed."""

    def convolution(self):
        kernel = random(4, 3, 3, 3)
        node = onnx.helper.make_node('Conv', ['x', 'k'], ['c'], name='conv', strides=[2, 1], pads=[1, 0, 1, 2])
        relu = onnx.helper.make_node('Relu', ['c'], ['y'], name='relu')
        proto = model([node, relu], [('x', 1, [1, 3, 8, 8])], [('y', 1, ['a', 'b', 'c', 'd'])], [numpy_helper.from_array(kernel, 'k')])
        made = trt.Builder(Lines()).create_network()
        layer = made.add_convolution_nd(made.add_input('x', trt.float32, (1, 3, 8, 8)), 4, (3, 3), kernel)
        layer.stride_nd, layer.pre_padding, layer.post_padding = (2, 1), (1, 0), (1, 2)
        made.add_activation(layer.get_output(0), trt.ActivationType.RELU)
        return kernel, (parsed(Lines(), proto), made)

    def test_what_a_cast_shows(self):
        kernel, networks = self.convolution()
        for network in networks:
            layer, relu = network
            self.assertEqual((layer.type, relu.type), (trt.LayerType.CONVOLUTION, trt.LayerType.ACTIVATION))
            self.assertRaises(AttributeError, lambda: layer.kernel)
            layer.__class__, relu.__class__ = trt.IConvolutionLayer, trt.IActivationLayer
            self.assertEqual((layer.kernel_size_nd, layer.stride_nd, layer.pre_padding, layer.post_padding, layer.dilation_nd or (1, 1),
                              layer.num_output_maps, layer.num_groups, layer.padding_mode, layer.bias.size),
                             ((3, 3), (2, 1), (1, 0), (1, 2), (1, 1), 4, 1, trt.PaddingMode.EXPLICIT_ROUND_DOWN, 0))
            np.testing.assert_array_equal(layer.kernel, kernel.reshape(-1))
            self.assertEqual((relu.type, layer.type, layer.num_outputs), (trt.ActivationType.RELU, trt.LayerType.CONVOLUTION, 1))
            layer.__class__ = trt.ILayer
            self.assertEqual((type(layer), layer.type), (trt.ILayer, trt.LayerType.CONVOLUTION))

    def test_wrong_ones(self):
        for network in self.convolution()[1]:
            layer = network[0]
            self.refused(TypeError, ['IPoolingLayer', 'LayerType.CONVOLUTION'], setattr, layer, '__class__', trt.IPoolingLayer)
            self.refused(TypeError, 'ILayer', setattr, layer, '__class__', trt.ITensor)

    def test_what_a_parsed_layer_does_not_tell_is_refused_by_name(self):
        layer = parsed(Lines(), tanh_model())[1]
        layer.__class__ = trt.IActivationLayer
        self.assertEqual(layer.type, trt.ActivationType.TANH)
        self.refused(tenfold.Unsupported, ["type of layer 'bend'", 'Tanh'], setattr, layer, 'type', trt.ActivationType.RELU)

    def test_errors_inside_properties_are_told(self):
        class Mine(trt.IBuilderConfig):
            @property
            def mine(self):
                return self.their_own_mistake
        config = Mine(Lines())
        self.refused(AttributeError, 'their_own_mistake', lambda: config.mine)


class Names(Layers):
    """Of layers and of results, as TensorRT calls them."""

    def test_of_layers_and_results(self):
        n, x = self.network, self.input(random(2, 3))
        y = n.add_constant((3, 2), random(3, 2)).get_output(0)
        pool = n.add_matrix_multiply(x, trt.MatrixOperation.NONE, y, trt.MatrixOperation.NONE)
        top = n.add_topk(pool.get_output(0), trt.TopKOperation.MAX, 1, 2)
        self.assertEqual([layer.name for layer in n], ['(Unnamed Layer* 0) [Constant]', '(Unnamed Layer* 1) [Matrix Multiply]',
                                                       '(Unnamed Layer* 2) [TopK]'])
        self.assertEqual((pool.get_output(0).name, top.get_output(0).name, top.get_output(1).name),
                         ('(Unnamed Layer* 1) [Matrix Multiply]_output', '(Unnamed Layer* 2) [TopK]_output_1',
                          '(Unnamed Layer* 2) [TopK]_output_2'))
        n.mark_output(top.get_output(1))
        self.assertEqual(n.get_output(0).name, '(Unnamed Layer* 2) [TopK]_output_2')
        top.name, top.get_output(0).name = 'top', 'best'
        self.assertEqual((top.get_output(0).name, top.get_output(1).name), ('best', '(Unnamed Layer* 2) [TopK]_output_2'))


if __name__ == '__main__':
    unittest.main()
