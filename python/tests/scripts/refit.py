# Weights of an engine are changed without a build: first some that it lacks are asked for, then the rest comes from a file.
import numpy as np
import tensorrt as trt

logger = trt.Logger(trt.Logger.ERROR)


def build(path):
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse_from_file(path)
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.REFIT)
    config.clear_flag(trt.BuilderFlag.TF32)
    return trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))


def infer(context, image):
    scores = np.empty(tuple(context.engine.get_tensor_shape('scores')), np.float32)
    image = np.ascontiguousarray(image)
    context.set_tensor_address('images', image.ctypes.data)
    context.set_tensor_address('scores', scores.ctypes.data)
    assert context.execute_async_v3(0)
    return scores


images, weights = np.load('inputs.npz')['images'], dict(np.load('other.npz'))
engine = build('model.onnx')
assert engine.refittable
context = engine.create_execution_context()
before = np.concatenate([infer(context, image[None]) for image in images])

refitter = trt.Refitter(engine, logger)
names = set(refitter.get_all_weights())
assert names <= set(weights), names - set(weights)
first = sorted(names)[0]
assert refitter.set_named_weights(first, trt.Weights(weights[first]))
for name in refitter.get_missing_weights():
    assert refitter.set_named_weights(name, weights[name])
assert not refitter.get_missing_weights()
for name in names:
    refitter.set_named_weights(name, weights[name])
assert refitter.refit_cuda_engine()
after = np.concatenate([infer(context, image[None]) for image in images])   # the same context
np.savez('results.npz', before=before, after=after)
