# A recurrent network that writes letters: an LSTM of two layers as a loop of layers, run letter by letter with its state carried.
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import tensorrt as trt

weights = dict(np.load('weights.npz'))
VOCABULARY, HIDDEN, LAYERS = weights['embed'].shape[0], weights['embed'].shape[1], 2
logger = trt.Logger(trt.Logger.ERROR)


def gate(network, x, hidden, w, r, b, activation):
    xw = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, w, trt.MatrixOperation.TRANSPOSE)
    hr = network.add_matrix_multiply(hidden, trt.MatrixOperation.NONE, r, trt.MatrixOperation.TRANSPOSE)
    total = network.add_elementwise(xw.get_output(0), hr.get_output(0), trt.ElementWiseOperation.SUM)
    total = network.add_elementwise(total.get_output(0), b, trt.ElementWiseOperation.SUM)
    return network.add_activation(total.get_output(0), activation).get_output(0)


def constant(network, array):
    return network.add_constant(array.shape, trt.Weights(np.ascontiguousarray(array))).get_output(0)


def lstm(network, sequence, hidden, cell, length, layer):
    """Over a sequence [length, 1, hidden], by a loop; its last hidden and cell, and the hidden state of each step."""
    get = {(kind, g): constant(network, weights[f'{kind}{layer}_{g}']) for kind in 'wrb' for g in 'iofc'}
    loop = network.add_loop()
    loop.name = f'lstm{layer}'
    loop.add_trip_limit(length, trt.TripLimit.COUNT)
    step = loop.add_iterator(sequence, 0, False)
    h, c = loop.add_recurrence(hidden), loop.add_recurrence(cell)

    def of(g, kind=trt.ActivationType.SIGMOID):
        return gate(network, step.get_output(0), h.get_output(0), get['w', g], get['r', g], get['b', g], kind)
    kept = network.add_elementwise(of('f'), c.get_output(0), trt.ElementWiseOperation.PROD)
    fresh = network.add_elementwise(of('i'), of('c', trt.ActivationType.TANH), trt.ElementWiseOperation.PROD)
    next_c = network.add_elementwise(kept.get_output(0), fresh.get_output(0), trt.ElementWiseOperation.SUM)
    squashed = network.add_activation(next_c.get_output(0), trt.ActivationType.TANH)
    next_h = network.add_elementwise(of('o'), squashed.get_output(0), trt.ElementWiseOperation.PROD)
    c.set_input(1, next_c.get_output(0))
    h.set_input(1, next_h.get_output(0))
    last_h = loop.add_loop_output(h.get_output(0), trt.LoopOutput.LAST_VALUE, 0)
    last_c = loop.add_loop_output(c.get_output(0), trt.LoopOutput.LAST_VALUE, 0)
    every = loop.add_loop_output(next_h.get_output(0), trt.LoopOutput.CONCATENATE, 0)
    every.set_input(1, length)
    return last_h.get_output(0), last_c.get_output(0), every.get_output(0)


def build():
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    letters = network.add_input('letters', trt.int32, (-1,))
    states = {f'{kind}{layer}': network.add_input(f'{kind}{layer}', trt.float32, (1, HIDDEN)) for kind in 'hc' for layer in range(LAYERS)}
    embedded = network.add_gather(constant(network, weights['embed']), letters, 0)
    rows = network.add_shuffle(embedded.get_output(0))
    rows.reshape_dims = (-1, 1, HIDDEN)
    x = rows.get_output(0)
    shape = network.add_shape(letters).get_output(0)
    length = network.add_shuffle(network.add_cast(shape, trt.int32).get_output(0))
    length.reshape_dims = ()
    for layer in range(LAYERS):
        h, c, x = lstm(network, x, states[f'h{layer}'], states[f'c{layer}'], length.get_output(0), layer)
        for name, tensor in ((f'h{layer}_out', h), (f'c{layer}_out', c)):
            tensor.name = name
            network.mark_output(tensor)
        last = h
    product = network.add_matrix_multiply(last, trt.MatrixOperation.NONE, constant(network, weights['out']), trt.MatrixOperation.TRANSPOSE)
    scores = network.add_elementwise(product.get_output(0), constant(network, weights['bias']), trt.ElementWiseOperation.SUM)
    scores.get_output(0).name = 'scores'
    network.mark_output(scores.get_output(0))
    best = network.add_topk(scores.get_output(0), trt.TopKOperation.MAX, 1, 1 << 1)
    best.get_output(1).name = 'best'
    network.mark_output(best.get_output(1))

    config, profile = builder.create_builder_config(), builder.create_optimization_profile()
    profile.set_shape('letters', (1,), (1,), (16,))
    config.add_optimization_profile(profile)
    config.clear_flag(trt.BuilderFlag.TF32)
    return trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))


class Writer:
    def __init__(self, engine):
        self.engine, self.context, self.stream = engine, engine.create_execution_context(), cuda.Stream()
        self.arrays = {name: np.zeros((1, HIDDEN), np.float32) for name in ('h0', 'h1', 'c0', 'c1')}

    def feed(self, letters):
        self.arrays['letters'] = np.asarray(letters, np.int32)
        memory, results = {}, {}
        for name in (self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)):
            if self.engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
                assert self.context.set_input_shape(name, self.arrays[name].shape)
                memory[name] = cuda.to_device(self.arrays[name])
            else:
                results[name] = np.empty(tuple(self.engine.get_tensor_shape(name)), trt.nptype(self.engine.get_tensor_dtype(name)))
                memory[name] = cuda.mem_alloc(results[name].nbytes)
            self.context.set_tensor_address(name, int(memory[name]))
        assert self.context.execute_async_v3(self.stream.handle)
        for name, array in results.items():
            cuda.memcpy_dtoh_async(array, memory[name], self.stream)
        self.stream.synchronize()
        self.arrays.update({name.removesuffix('_out'): array for name, array in results.items() if name.endswith('_out')})
        return int(results['best'][0, 0]), results['scores']


writer = Writer(build())
letter, scores = writer.feed(np.load('inputs.npz')['letters'])   # what is given at once, then what is written one by one
written = []
for _ in range(8):
    written.append(letter)
    letter, scores = writer.feed([letter])
np.savez('results.npz', written=np.array(written), scores=scores, **{k: v for k, v in writer.arrays.items() if k != 'letters'})
