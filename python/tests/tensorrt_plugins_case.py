"""What the tests of TensorRT's plug-ins share: an empty registry, plans with a profile, runs at addresses, and a plug-in of either form."""
import ctypes
import json

import numpy as np
from case import Case, TensorProto, helper, model
from tensorrt_case import Lines

import tenfold.tensorrt as trt

RANGE = ((1, 2, 5, 6), (2, 2, 5, 6), (4, 2, 5, 6))


class Plugged(Case):
    def setUp(self):
        super().setUp()
        self.logger, self.registry = Lines(), trt.get_plugin_registry()
        self.addCleanup(self.registry._creators.clear)

    def config(self, builder, **shapes):
        config, profile = builder.create_builder_config(), builder.create_optimization_profile()
        for name, three in shapes.items():
            profile.set_shape(name, *three)
        config.add_optimization_profile(profile)
        config.builder_optimization_level = 3
        return config

    def plan(self, network, **shapes):
        builder = trt.Builder(self.logger)
        plan = builder.build_serialized_network(network, self.config(builder, **shapes))
        self.assertIsNotNone(plan, self.logger.errors)
        return plan

    def loaded(self, plan):
        engine = trt.Runtime(self.logger).deserialize_cuda_engine(plan)
        self.assertIsNotNone(engine, self.logger.errors)
        return engine

    def run_on(self, context, outputs, **inputs):
        """`outputs`: {name: room}."""
        for name, array in inputs.items():
            context.set_input_shape(name, array.shape)
            context.set_tensor_address(name, array.ctypes.data)
        for name, array in outputs.items():
            context.set_tensor_address(name, array.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.logger.errors)

    def check_wrap(self, plan, y='y'):
        context = self.loaded(plan).create_execution_context()
        for n in (1, 3, 2):
            x, out = np.random.default_rng(n).standard_normal((n, 2, 5, 6)).astype(np.float32), np.empty((n, 2, 7, 8), np.float32)
            self.run_on(context, {y: out}, x=x)
            np.testing.assert_array_equal(out, np.maximum(wrapped(x, PADS), 0) if y == 'y' else wrapped(x, PADS))


PADS = [1, 1, 2, 0]


def at(address, desc):
    """The elements of an operand or result of enqueue()."""
    kind = np.dtype(trt.nptype(desc.type))
    count = int(np.prod(desc.dims))
    return np.frombuffer((ctypes.c_char * (count * kind.itemsize)).from_address(address), kind).reshape(tuple(desc.dims))


def wrapped(x, pads):
    return np.pad(x, [(0, 0), (0, 0), (pads[2], pads[3]), (pads[0], pads[1])], 'wrap')


class WrapV3(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    """Pads the last dims as on a ring. Written as public samples are."""

    asked = []

    def __init__(self, fc=None, phase=None):
        trt.IPluginV3.__init__(self)
        trt.IPluginV3OneCore.__init__(self)
        trt.IPluginV3OneBuild.__init__(self)
        trt.IPluginV3OneRuntime.__init__(self)
        self.num_outputs, self.plugin_namespace, self.plugin_name, self.plugin_version = 1, '', 'WrapPad', '1'
        self.pads, self.tactic, self.shape = [], None, None
        if fc is not None:
            assert fc[0].name == 'pads'
            self.pads = fc[0].data
        self.phase = phase

    def get_capability_interface(self, type):
        return self

    def get_output_data_types(self, input_types):
        return [input_types[0]]

    def get_output_shapes(self, inputs, shape_inputs, exprBuilder):
        dims = trt.DimsExprs(inputs[0])
        for i in range(np.size(self.pads) // 2):
            dims[len(dims) - i - 1] = exprBuilder.operation(
                trt.DimensionOperation.SUM, inputs[0][len(dims) - i - 1], exprBuilder.constant(self.pads[i * 2] + self.pads[i * 2 + 1]))
        return [dims]

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection([trt.PluginField('pads', self.pads, trt.PluginFieldType.INT32)])

    def configure_plugin(self, inp, out):
        assert len(inp[0].min) == len(inp[0].max) == len(inp[0].desc.dims)

    def on_shape_change(self, inp, out):
        self.shape = tuple(inp[0].dims)

    def supports_format_combination(self, pos, in_out, num_inputs):
        desc = in_out[pos].desc
        if desc.format != trt.TensorFormat.LINEAR:
            return False
        return desc.type == trt.DataType.FLOAT if pos == 0 else in_out[0].desc.type == desc.type

    def get_valid_tactics(self):
        return [1, 2]

    def set_tactic(self, tactic):
        self.tactic = tactic

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        assert self.shape == tuple(input_desc[0].dims) and self.phase == trt.TensorRTPhase.RUNTIME
        WrapV3.asked.append(self.tactic)
        at(outputs[0], output_desc[0])[:] = wrapped(at(inputs[0], input_desc[0]), self.pads)

    def attach_to_context(self, context):
        return self.clone()

    def clone(self):
        cloned = WrapV3()
        cloned.__dict__.update(self.__dict__)
        return cloned


class WrapV3Creator(trt.IPluginCreatorV3One):
    def __init__(self):
        trt.IPluginCreatorV3One.__init__(self)
        self.name, self.plugin_namespace, self.plugin_version = 'WrapPad', '', '1'
        self.field_names = trt.PluginFieldCollection([trt.PluginField('pads', np.array([]), trt.PluginFieldType.INT32)])

    def create_plugin(self, name, fc, phase):
        return WrapV3(fc, phase)


class WrapV2(trt.IPluginV2DynamicExt):
    ended = 0

    def __init__(self, fc=None):
        trt.IPluginV2DynamicExt.__init__(self)
        self.num_outputs, self.plugin_namespace, self.plugin_type, self.plugin_version = 1, '', 'WrapPad', '1'
        self.pads, self.shape, self.ready = [], None, False
        if fc is not None:
            self.pads = fc[0].data.tolist()

    def initialize(self):
        self.ready = True

    def terminate(self):
        WrapV2.ended += 1

    def get_output_datatype(self, index, input_types):
        return input_types[0]

    def get_output_dimensions(self, output_index, inputs, exprBuilder):
        return WrapV3.get_output_shapes(self, inputs, [], exprBuilder)[0]

    def serialize(self):
        return json.dumps({'pads': self.pads})

    def configure_plugin(self, inp, out):
        self.shape = tuple(inp[0].desc.dims)

    def supports_format_combination(self, pos, in_out, num_inputs):
        return in_out[pos].format == trt.TensorFormat.LINEAR and in_out[pos].type == trt.DataType.FLOAT

    def get_workspace_size(self, input_desc, output_desc):
        return 4 * int(np.prod(output_desc[0].dims))

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        assert self.ready and self.shape == tuple(input_desc[0].dims) and workspace % 64 == 0
        at(workspace, output_desc[0])[:] = wrapped(at(inputs[0], input_desc[0]), self.pads)
        at(outputs[0], output_desc[0])[:] = at(workspace, output_desc[0])

    def clone(self):
        cloned = WrapV2()
        cloned.__dict__.update(self.__dict__)
        return cloned


class WrapV2Creator(trt.IPluginCreator):
    def __init__(self):
        trt.IPluginCreator.__init__(self)
        self.name, self.plugin_namespace, self.plugin_version = 'WrapPad', '', '1'
        self.field_names = WrapV3Creator().field_names

    def create_plugin(self, name, fc):
        return WrapV2(fc)

    def deserialize_plugin(self, name, data):
        made = WrapV2()
        made.__dict__.update(json.loads(data.decode()))
        return made


def wrap_model(**attributes):
    """As tools write it: the node is of ONNX's own domain."""
    node = helper.make_node('WrapPad', ['x'], ['w'], name='wrap', **attributes)
    return model([node, helper.make_node('Relu', ['w'], ['y'], name='bend')], [('x', TensorProto.FLOAT, ['n', 2, 5, 6])],
                 [('y', TensorProto.FLOAT, ['n', 2, 7, 8])], opset=16)
