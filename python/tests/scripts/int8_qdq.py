# An int8 engine of a model with QuantizeLinear and DequantizeLinear: no calibrator is needed, its scales are in the model.
import numpy as np
import tensorrt as trt

logger = trt.Logger(trt.Logger.WARNING)


def main():
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file('model.onnx'):
        raise SystemExit(str(parser.get_error(0)))
    kinds = [network.get_layer(i).type for i in range(network.num_layers)]
    assert trt.LayerType.QUANTIZE in kinds and trt.LayerType.DEQUANTIZE in kinds
    config = builder.create_builder_config()
    if builder.platform_has_fast_int8:
        config.set_flag(trt.BuilderFlag.INT8)
    assert config.get_flag(trt.BuilderFlag.INT8) == builder.platform_has_fast_int8
    profile = builder.create_optimization_profile()
    profile.set_shape('images', min=(1, 1, 28, 28), opt=(8, 1, 28, 28), max=(32, 1, 28, 28))
    config.add_optimization_profile(profile)
    with trt.Runtime(logger) as runtime:
        engine = runtime.deserialize_cuda_engine(builder.build_serialized_network(network, config))
    images = np.ascontiguousarray(np.load('inputs.npz')['images'])
    with engine.create_execution_context() as context:
        context.set_input_shape('images', images.shape)
        scores = np.empty(tuple(context.get_tensor_shape('scores')), np.float32)
        assert context.execute_v2([images.ctypes.data, scores.ctypes.data])
    np.savez('results.npz', scores=scores)


if __name__ == '__main__':
    main()
