"""Functions that compute gradients of their own (torch.func) inside what is compiled, with gradients on and off around it."""
from unittest import mock

from torch_case import MLP, TorchCase, torch, unittest, warnings
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn.functional import interpolate, scaled_dot_product_attention


def wavy(x):
    return (torch.sin(x) * torch.exp(x) + torch.relu(x) * x).sum()


def bent(x):
    return torch.tanh(x) * x ** 2 + x


FUNCTIONS = {
    'grad': lambda x: grad(wavy)(x),
    'grad of grad': lambda x: grad(lambda y: grad(wavy)(y).sum())(x),
    'beside what has none': lambda x: grad(wavy)(x) * 2 + torch.relu(x),
    'vjp': lambda x: vjp(bent, x)[1](torch.ones_like(x))[0],
    'jvp': lambda x: jvp(bent, (x,), (torch.ones_like(x),))[1],
    'jacrev': lambda x: jacrev(bent)(x),
    'jacfwd': lambda x: jacfwd(bent)(x),
    'vmap of grad': lambda x: vmap(grad(wavy))(x.reshape(2, 2)),
    'hessian': lambda x: hessian(wavy)(x)}


class Sensitivity(MLP):
    def forward(self, x):
        return grad(lambda y: super(Sensitivity, self).forward(y).pow(2).sum())(x)


class WeightsGradients(MLP):
    def forward(self, x):
        def loss(weight):
            return torch.tanh(functional_call(self.first, {'weight': weight}, (x,))).pow(2).sum()
        return grad(loss)(self.first.weight)


class Counting(Sensitivity):
    def __init__(self):
        super().__init__()
        self.register_buffer('calls', torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return super().forward(x) * self.calls


class Held(torch.nn.Module):
    """What the backend keeps whole where nobody asks for its gradient."""

    def forward(self, x):
        def loss(y):
            return (scaled_dot_product_attention(y, y * 2, y) * y).sum() + interpolate(y, scale_factor=2.0, mode='bilinear').pow(2).sum()
        return grad(loss)(x) + scaled_dot_product_attention(x, x, x)


class Transforms(TorchCase):
    def in_each_mode(self, function, x, **more):
        expected = function(x)
        for mode in (torch.enable_grad, torch.no_grad):
            torch._dynamo.reset()
            with mode(), self.subTest(mode.__name__, **more):
                run, reports = self.compiled(function, min_block_size=1)
                found = run(x)
                torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-5)
                self.assertFalse(found.requires_grad)
                self.assertTrue(any(r.engines for r in reports), list(map(str, reports)))

    def test_functions(self):
        x = torch.tensor([0.5, -1.0, 2.0, 0.3])
        for name, function in FUNCTIONS.items():
            self.assertGreater(float(function(x).abs().max()), 0.1)          # nothing here is zero
            self.in_each_mode(function, x, which=name)

    def test_modules(self):
        for kind in (Sensitivity, WeightsGradients):
            self.in_each_mode(kind().eval(), torch.randn(3, 8), which=kind.__name__)

    def test_what_is_kept_whole_elsewhere(self):
        self.in_each_mode(Held().eval(), torch.randn(1, 2, 5, 8))

    def test_a_batch_of_attention(self):
        warnings.simplefilter("ignore")                      # of torch's, whose rule for such a batch is slow
        self.in_each_mode(lambda x: vmap(lambda y: scaled_dot_product_attention(y, y, y))(x), torch.randn(3, 1, 2, 5, 8))

    def test_a_module_that_writes_a_buffer(self):
        module, twin = Counting().eval(), Counting().eval()
        twin.load_state_dict(module.state_dict())
        run, _ = self.compiled(module, min_block_size=1)
        x = torch.randn(3, 8)
        for _ in range(3):
            self.same(run(x), twin(x).detach())
            self.assertEqual(module.calls, twin.calls)
        self.assertTrue(torch.is_grad_enabled())


class Raised(TorchCase):
    def test_whatever_tracing_raises_is_torchs(self):
        module, x = MLP().eval(), torch.randn(3, 8)
        for kind in (TypeError, KeyError, ValueError, IndexError, ZeroDivisionError, type('Own', (Exception,), {})):
            torch._dynamo.reset()
            with mock.patch('tenfold.torch._backend.aot_module_simplified', side_effect=kind('odd')), \
                    warnings.catch_warnings(record=True) as reported, torch.no_grad():
                warnings.simplefilter('always')
                run, _ = self.compiled(module)
                self.same(run(x), module(x))
            ours = [str(w.message) for w in reported if 'tenfold' in str(w.message)]
            self.assertEqual(len(ours), 1, ours)
            self.assertIn('odd', ours[0])

    def test_what_asks_torch_to_trace_anew_is_not_taken(self):
        with mock.patch('tenfold.torch._backend.aot_module_simplified', side_effect=KeyboardInterrupt()):
            run, _ = self.compiled(MLP().eval())
            with self.assertRaises(KeyboardInterrupt), torch.no_grad():
                run(torch.randn(3, 8))


if __name__ == '__main__':
    unittest.main()
