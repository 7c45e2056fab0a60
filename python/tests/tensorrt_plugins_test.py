"""TensorRT's plug-ins: both forms, in ONNX files and added as layers, with fields, tactics and shapes, on the CPU beside NumPy."""
import numpy as np
from case import Case
from tensorrt_case import parsed
from tensorrt_plugins_case import PADS, RANGE, Plugged, WrapV2, WrapV2Creator, WrapV3, WrapV3Creator, at, wrap_model

import tenfold.tensorrt as trt

class Onnx(Plugged):
    def test_a_node_of_onnx_is_a_plugin_of_either_form(self):
        for creator in (WrapV3Creator(), WrapV2Creator()):
            with self.subTest(type(creator).__name__):
                self.registry._creators.clear()
                self.assertTrue(self.registry.register_creator(creator, ''))
                network = parsed(self.logger, wrap_model(pads=PADS))
                self.assertEqual(tuple(network.get_output(0).shape), (-1, 2, 7, 8))
                self.check_wrap(self.plan(network, x=RANGE))
        self.assertEqual(set(WrapV3.asked), {1, 2})   # both tactics were timed
        self.assertGreater(WrapV2.ended, 0)

    def test_without_a_creator_it_is_told(self):
        network = trt.Builder(self.logger).create_network()
        parser = trt.OnnxParser(network, self.logger)
        self.assertFalse(parser.parse(wrap_model(pads=PADS).SerializeToString()))
        self.assertIn("there is no operator 'WrapPad'", parser.get_error(0).desc())
        self.assertFalse(parser.supports_operator('WrapPad'))
        self.registry.register_creator(WrapV3Creator(), '')
        self.assertTrue(parser.supports_operator('WrapPad'))
        plan = self.plan(parsed(self.logger, wrap_model(pads=PADS)), x=RANGE)
        self.registry._creators.clear()
        self.assertIsNone(trt.Runtime(self.logger).deserialize_cuda_engine(plan))
        self.assertIn('WrapPad', self.logger.errors[-1])

    def test_versions_and_namespaces_choose_among_creators(self):
        self.registry.register_creator(WrapV3Creator(), '')
        second = WrapV2Creator()
        second.plugin_version = '2'
        self.registry.register_creator(second, 'mine')
        before = WrapV2.ended
        self.check_wrap(self.plan(parsed(self.logger, wrap_model(pads=PADS, plugin_version='2', plugin_namespace='mine')), x=RANGE))
        self.assertGreater(WrapV2.ended, before)
        network = trt.Builder(self.logger).create_network()
        parser = trt.OnnxParser(network, self.logger)
        self.assertFalse(parser.parse(wrap_model(pads=PADS, plugin_version='3').SerializeToString()))
        self.assertIn("version '3'", parser.get_error(0).desc())

    def test_one_number_is_a_field_of_one(self):
        class Creator(WrapV3Creator):
            def create_plugin(self, name, fc, phase):
                assert [f.data.tolist() for f in fc] == [[3]], fc
                return WrapV3([trt.PluginField('pads', [3, 0], trt.PluginFieldType.INT32)], phase)
        self.registry.register_creator(Creator(), '')
        network = parsed(self.logger, wrap_model(pads=3))
        self.assertEqual(tuple(network.get_output(0).shape), (-1, 2, 5, 9))


class Layers(Plugged):
    def network(self, add):
        network = trt.Builder(self.logger).create_network()
        x = network.add_input('x', trt.float32, (-1, 2, 5, 6))
        layer = add(network, x)
        layer.get_output(0).name = 'w'
        network.mark_output(layer.get_output(0))
        return network, layer

    def test_both_forms_as_layers(self):
        field = trt.PluginField('pads', np.array(PADS, np.int32), trt.PluginFieldType.INT32)
        self.registry.register_creator(WrapV3Creator(), '')
        made = self.registry.get_creator('WrapPad', '1', '').create_plugin('wrap', trt.PluginFieldCollection([field]),
                                                                            trt.TensorRTPhase.BUILD)
        network, layer = self.network(lambda n, x: n.add_plugin_v3([x], [], made))
        self.assertIs(layer.plugin, made)
        self.assertEqual(layer.type, trt.LayerType.PLUGIN_V3)
        self.check_wrap(self.plan(network, x=RANGE), 'w')
        self.registry._creators.clear()
        self.registry.register_creator(WrapV2Creator(), '')
        old = self.registry.get_plugin_creator('WrapPad', '1', '').create_plugin('wrap', trt.PluginFieldCollection([field]))
        network, layer = self.network(lambda n, x: n.add_plugin_v2([x], old))
        self.assertEqual(layer.type, trt.LayerType.PLUGIN_V2)
        self.check_wrap(self.plan(network, x=RANGE), 'w')

    def test_shape_inputs_decide_shapes(self):
        class Tile(WrapV3):
            def __init__(self, fc=None, phase=None):
                super().__init__()
                self.plugin_name, self.phase = 'TileFirst', phase

            def get_fields_to_serialize(self):
                return None

            def get_output_shapes(self, inputs, shape_inputs, exprBuilder):
                dims = trt.DimsExprs(inputs[0])
                dims[0] = exprBuilder.operation(trt.DimensionOperation.PROD, inputs[0][0], shape_inputs[0][0])
                return [dims]

            def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
                assert len(inputs) == 1
                x = at(inputs[0], input_desc[0])
                at(outputs[0], output_desc[0])[:] = np.concatenate([x] * (output_desc[0].dims[0] // x.shape[0]))

            def clone(self):
                made = Tile()
                made.__dict__.update(self.__dict__)
                return made

        class Creator(WrapV3Creator):
            def __init__(self):
                super().__init__()
                self.name, self.field_names = 'TileFirst', trt.PluginFieldCollection()

            def create_plugin(self, name, fc, phase):
                return Tile(fc, phase)
        self.registry.register_creator(Creator(), '')
        def add(network, x):
            times = network.add_constant((1,), np.array([3], np.int64)).get_output(0)
            return network.add_plugin_v3([x], [times], Tile())
        network, _ = self.network(add)
        self.assertEqual(tuple(network.get_output(0).shape), (-1, 2, 5, 6))
        context = self.loaded(self.plan(network, x=RANGE)).create_execution_context()
        x, out = np.random.default_rng(0).standard_normal((2, 2, 5, 6)).astype(np.float32), np.empty((6, 2, 5, 6), np.float32)
        self.run_on(context, {'w': out}, x=x)
        np.testing.assert_array_equal(out, np.concatenate([x] * 3))

    def test_what_does_not_fit_is_told(self):
        class Refuses(WrapV3Creator):
            def create_plugin(self, name, fc, phase):
                made = WrapV3(fc, phase)
                made.supports_format_combination = lambda *_: False
                made.enqueue = lambda *_: 7
                return made
        self.registry.register_creator(Refuses(), '')
        field = trt.PluginField('pads', PADS, trt.PluginFieldType.INT32)
        with self.assertRaisesRegex(ValueError, r'supports_format_combination\(\) refuses DataType.FLOAT'):
            self.network(lambda n, x: n.add_plugin_v3([x], [], WrapV3([field])))
        network = trt.Builder(self.logger).create_network()
        network.add_input('x', trt.float32, (2, 2, 5, 6))
        with self.assertRaisesRegex(TypeError, 'IPluginV2DynamicExt, got WrapV3'):
            network.add_plugin_v2([network.get_input(0)], WrapV3([field]))
        with self.assertRaisesRegex(TypeError, 'IPluginV3, got int'):
            network.add_plugin_v3([network.get_input(0)], [], 1)
        self.registry._creators.clear()
        with self.assertRaisesRegex(ValueError, "plug-in 'WrapPad' version '1' of namespace '' has no creator"):
            self.network(lambda n, x: n.add_plugin_v3([x], [], WrapV3([field])))

    def test_what_enqueue_returns_and_raises_ends_the_run(self):
        class Fails(WrapV3Creator):
            def create_plugin(self, name, fc, phase):
                made = WrapV3(fc, phase)
                if phase == trt.TensorRTPhase.RUNTIME:
                    made.enqueue = self.enqueue
                return made
        creator = Fails()
        self.registry.register_creator(creator, '')
        field = trt.PluginField('pads', PADS, trt.PluginFieldType.INT32)
        creator.enqueue = lambda *_: None
        network, _ = self.network(lambda n, x: n.add_plugin_v3([x], [], WrapV3([field])))
        plan = self.plan(network, x=RANGE)
        def broken(*_):
            raise RuntimeError('no luck')
        for creator.enqueue, expected in ((lambda *_: 7, 'enqueue() returned 7'), (broken, 'no luck')):
            context = self.loaded(plan).create_execution_context()
            x, out = np.zeros((2, 2, 5, 6), np.float32), np.empty((2, 2, 7, 8), np.float32)
            context.set_input_shape('x', x.shape)
            context.set_tensor_address('x', x.ctypes.data)
            context.set_tensor_address('w', out.ctypes.data)
            self.assertFalse(context.execute_async_v3(0))
            self.assertIn(expected, self.logger.errors[-1])


class Registry(Case):
    def setUp(self):
        super().setUp()
        self.registry = trt.get_plugin_registry()
        self.addCleanup(self.registry._creators.clear)

    def test_creators_come_and_go(self):
        first = WrapV3Creator()
        self.assertTrue(self.registry.register_creator(first, ''))
        self.assertFalse(self.registry.register_creator(WrapV2Creator(), ''))
        self.assertIs(self.registry.get_creator('WrapPad', '1', ''), first)
        self.assertEqual(self.registry.all_creators, [first])
        self.assertEqual(self.registry.plugin_creator_list, [])
        self.assertIsNone(self.registry.get_plugin_creator('WrapPad', '2', ''))
        self.assertTrue(self.registry.deregister_creator(first))
        self.assertFalse(self.registry.deregister_creator(first))
        with self.assertRaisesRegex(TypeError, 'got int'):
            self.registry.register_creator(3)

    def test_resources_are_shared_by_key(self):
        class Resource(trt.IPluginResource):
            made = 0

            def acquire(self):
                Resource.made += 1

            def release(self):
                Resource.made -= 1
        one = self.registry.acquire_plugin_resource('key', Resource())
        self.assertIs(self.registry.acquire_plugin_resource('key', Resource()), one)
        self.assertEqual(Resource.made, 1)
        self.assertEqual(self.registry.release_plugin_resource('key'), 1)
        self.assertEqual(self.registry.release_plugin_resource('key'), 0)
        self.assertEqual(Resource.made, 0)
        with self.assertRaises(KeyError):
            self.registry.release_plugin_resource('key')

    def test_fields_hold_what_their_type_says(self):
        made = trt.PluginField('alpha', np.array([0.5]), trt.PluginFieldType.FLOAT32)
        self.assertEqual((made.data.dtype, made.size, made.data.tolist()), (np.float32, 1, [0.5]))
        self.assertEqual(trt.PluginField('name', 'text', trt.PluginFieldType.CHAR).data.tobytes(), b'text')
        with self.assertRaises(TypeError):
            trt.PluginFieldCollection(['pads'])

    def test_extents_are_numbers_or_expressions(self):
        builder = trt.IExprBuilder()
        seven, two = builder.constant(7), builder.constant(2)
        for op, expected in dict(SUM=9, PROD=14, MAX=7, MIN=2, SUB=5, EQUAL=0, LESS=0, FLOOR_DIV=3, CEIL_DIV=4).items():
            self.assertEqual(builder.operation(trt.DimensionOperation[op], seven, two).get_constant_value(), expected)
        with self.assertRaisesRegex(ValueError, 'by 0'):
            builder.operation(trt.DimensionOperation.FLOOR_DIV, seven, builder.constant(0))
        with self.assertRaisesRegex(TypeError, 'got int'):
            trt.DimsExprs(2)[0] = 3


if __name__ == '__main__':
    import unittest
    unittest.main()
