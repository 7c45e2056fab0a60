# A plug-in of TensorRT 10 (IPluginV3 with its creator) that an ONNX node names: padding on a ring. Its arrays are NumPy's.
import ctypes

import numpy as np
import tensorrt as trt

logger = trt.Logger(trt.Logger.ERROR)


def array_at(address, desc):
    count = trt.volume(desc.dims)
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address)).reshape(tuple(desc.dims))


class CircPadPlugin(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    def __init__(self, fc=None):
        trt.IPluginV3.__init__(self)
        trt.IPluginV3OneCore.__init__(self)
        trt.IPluginV3OneBuild.__init__(self)
        trt.IPluginV3OneRuntime.__init__(self)
        self.pads = []
        self.num_outputs, self.plugin_namespace, self.plugin_name, self.plugin_version = 1, '', 'CircPadPlugin', '1'
        if fc is not None:
            assert set(f.name for f in fc) == {'pads'}, 'pads is what it takes'
            for f in fc:
                self.pads = f.data

    def get_capability_interface(self, type):
        return self

    def get_output_data_types(self, input_types):
        return [input_types[0]]

    def get_output_shapes(self, inputs, shape_inputs, exprBuilder):
        output_dims = trt.DimsExprs(inputs[0])
        for i in range(np.size(self.pads) // 2):
            output_dims[len(output_dims) - i - 1] = exprBuilder.operation(
                trt.DimensionOperation.SUM, inputs[0][len(output_dims) - i - 1],
                exprBuilder.constant(int(self.pads[i * 2] + self.pads[i * 2 + 1])))
        return [output_dims]

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection([trt.PluginField('pads', self.pads, trt.PluginFieldType.INT32)])

    def configure_plugin(self, inp, out):
        assert inp[0].desc.type == trt.float32

    def on_shape_change(self, inp, out):
        self.x_shape = tuple(inp[0].dims)

    def supports_format_combination(self, pos, in_out, num_inputs):
        assert num_inputs == 1 and pos < len(in_out)
        return in_out[pos].desc.format == trt.TensorFormat.LINEAR and in_out[pos].desc.type == trt.float32

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        x, y = array_at(inputs[0], input_desc[0]), array_at(outputs[0], output_desc[0])
        assert x.shape == self.x_shape
        pads = [(0, 0)] * x.ndim
        for i in range(np.size(self.pads) // 2):
            pads[x.ndim - i - 1] = (self.pads[i * 2], self.pads[i * 2 + 1])
        y[:] = np.pad(x, pads, 'wrap')
        return 0

    def attach_to_context(self, context):
        return self.clone()

    def set_tactic(self, tactic):
        pass

    def clone(self):
        cloned_plugin = CircPadPlugin()
        cloned_plugin.__dict__.update(self.__dict__)
        return cloned_plugin


class CircPadPluginCreator(trt.IPluginCreatorV3One):
    def __init__(self):
        trt.IPluginCreatorV3One.__init__(self)
        self.name, self.plugin_namespace, self.plugin_version = 'CircPadPlugin', '', '1'
        self.field_names = trt.PluginFieldCollection([trt.PluginField('pads', np.array([]), trt.PluginFieldType.INT32)])

    def create_plugin(self, name, fc, phase):
        return CircPadPlugin(fc)


plg_registry = trt.get_plugin_registry()
assert plg_registry.register_creator(CircPadPluginCreator(), '')
assert plg_registry.get_creator('CircPadPlugin', '1', '') is not None

builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
parser = trt.OnnxParser(network, logger)
assert parser.parse_from_file('model.onnx'), [str(parser.get_error(i)) for i in range(parser.num_errors)]
x = np.ascontiguousarray(np.load('inputs.npz')['x'])
config = builder.create_builder_config()
profile = builder.create_optimization_profile()
profile.set_shape(network.get_input(0).name, (1, *x.shape[1:]), x.shape, (8, *x.shape[1:]))
config.add_optimization_profile(profile)
plan = builder.build_serialized_network(network, config)

engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
context = engine.create_execution_context()
context.set_input_shape('x', x.shape)
y = np.empty(tuple(context.get_tensor_shape('y')), np.float32)
context.set_tensor_address('x', x.ctypes.data)
context.set_tensor_address('y', y.ctypes.data)
assert context.execute_async_v3(0)
np.savez('results.npz', y=y)
