"""A small network for tests of quantization: three products and a residual, with its answers by NumPy, and samples of its input."""

from cli_case import FLOAT, ONCE, CliCase, helper, np, numpy_helper, save_model


def weights(*shape, seed):
    return (np.random.default_rng(seed).standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


class ResidualNet(CliCase):
    """n.onnx: conv, relu, conv with a residual, mean, product with a constant; x is [batch,8,12,12]."""

    def setUp(self):
        super().setUp()
        node = helper.make_node
        self.constants = {
            'w1': weights(16, 8, 3, 3, seed=1),
            'b1': weights(16, seed=2),
            'w2': weights(16, 16, 3, 3, seed=3),
            'w3': weights(10, 16, seed=4).T.copy(),
        }
        self.net = save_model(
            self.path('n.onnx'),
            [
                node('Conv', ['x', 'w1', 'b1'], ['c1'], pads=[1, 1, 1, 1]),
                node('Relu', ['c1'], ['r1']),
                node('Conv', ['r1', 'w2'], ['c2'], pads=[1, 1, 1, 1]),
                node('Add', ['c2', 'r1'], ['s']),
                node('GlobalAveragePool', ['s'], ['p']),
                node('Flatten', ['p'], ['f']),
                node('MatMul', ['f', 'w3'], ['y']),
            ],
            [('x', FLOAT, ['batch', 8, 12, 12])],
            [('y', FLOAT, ['batch', 10])],
            [numpy_helper.from_array(v, k) for k, v in self.constants.items()],
        )
        self.samples = np.random.default_rng(5).standard_normal((60, 8, 12, 12)).astype(np.float32)
        np.save(self.path('samples.npy'), self.samples)

    def truth(self, x):
        def conv(a, w):
            padded = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)))
            windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
            return np.einsum('nchwij,ocij->nohw', windows, w)

        r = np.maximum(conv(x, self.constants['w1']) + self.constants['b1'][:, None, None], 0)
        return (conv(r, self.constants['w2']) + r).mean((2, 3)) @ self.constants['w3']

    def shapes(self, most=30):
        return [f'--{which}Shapes=x:{n}x8x12x12' for which, n in (('min', 1), ('opt', 1), ('max', most))]

    def answers(self, x):
        np.save(self.path('x.npy'), x)
        out = self.path('out.npz')
        self.tenfold('exec', f"--loadEngine={self.path('n.plan')}", f"--loadInputs=x:{self.path('x.npy')}", f'--exportOutput={out}', *ONCE)
        return np.load(out)['y']
