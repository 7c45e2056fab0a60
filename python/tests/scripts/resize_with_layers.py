# One network prepares images of any size for another one: a resize layer by hand, whose output lies in the same memory as the
# second engine's input.
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import tensorrt as trt

TRT_LOGGER = trt.Logger(trt.Logger.INTERNAL_ERROR)
EXPLICIT_BATCH = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
runtime = trt.Runtime(TRT_LOGGER)


def preprocessor():
    builder = trt.Builder(TRT_LOGGER)
    network = builder.create_network(EXPLICIT_BATCH)
    image = network.add_input('image', trt.float32, (-1, 1, -1, -1))
    layer = network.add_resize(image)
    size = network.add_shape(image).get_output(0)
    batch = network.add_slice(size, (0,), (1,), (1,)).get_output(0)
    rest = network.add_constant((3,), np.array([1, 28, 28], np.int64)).get_output(0)
    layer.set_input(1, network.add_concatenation([batch, rest]).get_output(0))
    layer.resize_mode = trt.InterpolationMode.LINEAR
    layer.coordinate_transformation = trt.ResizeCoordinateTransformation.HALF_PIXEL
    layer.get_output(0).name = 'small'
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    profile = builder.create_optimization_profile()
    profile.set_shape('image', (1, 1, 1, 1), (1, 1, 56, 56), (4, 1, 112, 112))
    assert [tuple(s) for s in profile.get_shape('image')] == [(1, 1, 1, 1), (1, 1, 56, 56), (4, 1, 112, 112)]
    config.add_optimization_profile(profile)
    return runtime.deserialize_cuda_engine(builder.build_serialized_network(network, config))


def classifier():
    builder = trt.Builder(TRT_LOGGER)
    network = builder.create_network(EXPLICIT_BATCH)
    parser = trt.OnnxParser(network, TRT_LOGGER)
    assert parser.parse_from_file('model.onnx')
    softmax = network.add_softmax(network.get_output(0))
    softmax.axes = 1 << 1
    network.unmark_output(network.get_output(0))
    softmax.get_output(0).name = 'probabilities'
    network.mark_output(softmax.get_output(0))
    config, profile = builder.create_builder_config(), builder.create_optimization_profile()
    profile.set_shape('images', (1, 1, 28, 28), (1, 1, 28, 28), (4, 1, 28, 28))
    config.add_optimization_profile(profile)
    config.clear_flag(trt.BuilderFlag.TF32)
    return runtime.deserialize_cuda_engine(builder.build_serialized_network(network, config))


prepare, classify = preprocessor().create_execution_context(), classifier().create_execution_context()
stream, between, results = cuda.Stream(), cuda.mem_alloc(4 * 4 * 28 * 28), {}
for name, image in np.load('inputs.npz').items():
    image = np.ascontiguousarray(image)
    assert prepare.set_input_shape('image', image.shape) and prepare.all_binding_shapes_specified
    assert tuple(prepare.get_tensor_shape('small')) == (len(image), 1, 28, 28)
    given = cuda.mem_alloc(image.nbytes)
    cuda.memcpy_htod_async(given, image, stream)
    prepare.set_tensor_address('image', int(given))
    prepare.set_tensor_address('small', int(between))
    assert prepare.execute_async_v3(stream.handle)
    assert classify.set_input_shape('images', (len(image), 1, 28, 28))
    found = cuda.pagelocked_empty(tuple(classify.get_tensor_shape('probabilities')), np.float32)
    on_device = cuda.mem_alloc(found.nbytes)
    classify.set_tensor_address('images', int(between))
    classify.set_tensor_address('probabilities', int(on_device))
    assert classify.execute_async_v3(stream.handle)
    cuda.memcpy_dtoh_async(found, on_device, stream)
    stream.synchronize()
    results[name] = found
np.savez('results.npz', **results)
