# TensorRT 8.x with PyCUDA: page-locked buffers in lists, copies and execute_async_v2 on one stream.
import numpy as np
import pycuda.autoinit  # noqa: F401  makes the device's context
import pycuda.driver as cuda
import tensorrt as trt

TRT_LOGGER = trt.Logger(trt.Logger.WARNING)


class HostDeviceMem:
    def __init__(self, host_mem, device_mem):
        self.host, self.device = host_mem, device_mem

    def __repr__(self):
        return 'Host:\n' + str(self.host) + '\nDevice:\n' + str(self.device)


def build_engine(model_file):
    builder = trt.Builder(TRT_LOGGER)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    config = builder.create_builder_config()
    parser = trt.OnnxParser(network, TRT_LOGGER)
    config.max_workspace_size = 256 << 20
    config.clear_flag(trt.BuilderFlag.TF32)
    with open(model_file, 'rb') as model:
        if not parser.parse(model.read()):
            for error in range(parser.num_errors):
                print(parser.get_error(error))
            raise SystemExit(1)
    assert network.get_layer(network.num_layers - 1).num_outputs == 1
    return builder.build_engine(network, config)


def allocate_buffers(engine):
    inputs, outputs, bindings, stream = [], [], [], cuda.Stream()
    for binding in engine:
        size = trt.volume(engine.get_binding_shape(binding)) * engine.max_batch_size
        dtype = trt.nptype(engine.get_binding_dtype(binding))
        host_mem = cuda.pagelocked_empty(size, dtype)
        device_mem = cuda.mem_alloc(host_mem.nbytes)
        bindings.append(int(device_mem))
        (inputs if engine.binding_is_input(binding) else outputs).append(HostDeviceMem(host_mem, device_mem))
    return inputs, outputs, bindings, stream


def do_inference_v2(context, bindings, inputs, outputs, stream):
    [cuda.memcpy_htod_async(inp.device, inp.host, stream) for inp in inputs]
    context.execute_async_v2(bindings=bindings, stream_handle=stream.handle)
    [cuda.memcpy_dtoh_async(out.host, out.device, stream) for out in outputs]
    stream.synchronize()
    return [out.host for out in outputs]


def main():
    images = np.load('inputs.npz')['images']
    engine = build_engine('model.onnx')
    inputs, outputs, bindings, stream = allocate_buffers(engine)
    context = engine.create_execution_context()
    scores = []
    for image in images:
        np.copyto(inputs[0].host, image.ravel())
        trt_outputs = do_inference_v2(context, bindings=bindings, inputs=inputs, outputs=outputs, stream=stream)
        scores.append(trt_outputs[0].copy())
    np.savez('results.npz', scores=np.stack(scores))


if __name__ == '__main__':
    main()
