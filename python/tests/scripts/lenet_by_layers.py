# LeNet layer by layer, as the sample of MNIST does; its weights come from a file.
import numpy as np
import tensorrt as trt

TRT_LOGGER = trt.Logger(trt.Logger.ERROR)


class ModelData:
    INPUT_NAME, INPUT_SHAPE, OUTPUT_NAME, DTYPE = 'data', (1, 1, 28, 28), 'prob', trt.float32


def add_matmul_as_fc(net, input, outputs, w, b):
    assert len(input.shape) >= 3
    m = 1 if len(input.shape) == 3 else input.shape[0]
    k = int(np.prod(input.shape) / m)
    assert int(w.size / k) == outputs
    input_reshape = net.add_shuffle(input)
    input_reshape.reshape_dims = trt.Dims2(m, k)
    filter_const = net.add_constant(trt.Dims2(outputs, k), w)
    mm = net.add_matrix_multiply(input_reshape.get_output(0), trt.MatrixOperation.NONE, filter_const.get_output(0),
                                 trt.MatrixOperation.TRANSPOSE)
    bias_const = net.add_constant(trt.Dims2(1, outputs), b)
    bias_add = net.add_elementwise(mm.get_output(0), bias_const.get_output(0), trt.ElementWiseOperation.SUM)
    output_reshape = net.add_shuffle(bias_add.get_output(0))
    output_reshape.reshape_dims = trt.Dims4(m, outputs, 1, 1)
    return output_reshape


def populate_network(network, weights):
    input_tensor = network.add_input(name=ModelData.INPUT_NAME, dtype=ModelData.DTYPE, shape=ModelData.INPUT_SHAPE)
    conv1 = network.add_convolution_nd(input=input_tensor, num_output_maps=20, kernel_shape=(5, 5), kernel=weights['conv1.weight'],
                                       bias=weights['conv1.bias'])
    conv1.stride_nd = (1, 1)
    pool1 = network.add_pooling_nd(input=conv1.get_output(0), type=trt.PoolingType.MAX, window_size=(2, 2))
    pool1.stride_nd = trt.Dims2(2, 2)
    conv2 = network.add_convolution_nd(pool1.get_output(0), 50, (5, 5), weights['conv2.weight'], weights['conv2.bias'])
    conv2.stride_nd = (1, 1)
    pool2 = network.add_pooling_nd(conv2.get_output(0), trt.PoolingType.MAX, (2, 2))
    pool2.stride_nd = trt.Dims2(2, 2)
    fc1 = add_matmul_as_fc(network, pool2.get_output(0), 500, weights['fc1.weight'], weights['fc1.bias'])
    relu1 = network.add_activation(input=fc1.get_output(0), type=trt.ActivationType.RELU)
    fc2 = add_matmul_as_fc(network, relu1.get_output(0), 10, weights['fc2.weight'], weights['fc2.bias'])
    fc2.get_output(0).name = ModelData.OUTPUT_NAME
    network.mark_output(tensor=fc2.get_output(0))


def main():
    weights, images = dict(np.load('weights.npz')), np.load('inputs.npz')['images']
    builder = trt.Builder(TRT_LOGGER)
    network = builder.create_network(0)
    config = builder.create_builder_config()
    runtime = trt.Runtime(TRT_LOGGER)
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    config.clear_flag(trt.BuilderFlag.TF32)
    populate_network(network, weights)
    plan = builder.build_serialized_network(network, config)
    engine = runtime.deserialize_cuda_engine(plan)
    context = engine.create_execution_context()

    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as cuda
    data, prob = cuda.mem_alloc(images[0].nbytes), cuda.mem_alloc(4 * trt.volume(engine.get_tensor_shape(ModelData.OUTPUT_NAME)))
    assert context.set_tensor_address(ModelData.INPUT_NAME, int(data)) and context.set_tensor_address(ModelData.OUTPUT_NAME, int(prob))
    stream, found = cuda.Stream(), []
    for image in images:
        host = cuda.pagelocked_empty(10, np.float32)
        cuda.memcpy_htod_async(data, np.ascontiguousarray(image), stream)
        context.execute_async_v3(stream_handle=stream.handle)
        cuda.memcpy_dtoh_async(host, prob, stream)
        stream.synchronize()
        found.append(host)
    np.savez('results.npz', scores=np.stack(found))


if __name__ == '__main__':
    main()
