"""plugin(): custom operators of torch inside engines."""
from torch_case import MLP, QUICK, TorchCase, tenfold, torch, unittest


@torch.library.custom_op('tenfold_tests::bent', mutates_args=())
def bent(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0, flipped: bool = False) -> torch.Tensor:
    return (-1 if flipped else 1) * torch.sin(alpha * x) + torch.special.i0(y)


@bent.register_fake
def _(x, y, alpha=1.0, flipped=False):
    return torch.empty_like(x)


@torch.library.custom_op('tenfold_tests::parts', mutates_args=())
def parts(x: torch.Tensor, first: int) -> tuple[torch.Tensor, torch.Tensor]:
    return x[:, :first].clone(), x[:, first:] * 2


@parts.register_fake
def _(x, first):
    return x[:, :first].clone(), x[:, first:].clone()


class Bent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = torch.nn.Sequential(MLP(), torch.nn.Linear(4, 8)), MLP()

    def forward(self, x):
        y = self.before(x)
        first, second = torch.ops.tenfold_tests.parts(torch.ops.tenfold_tests.bent(y, x, 0.5, flipped=True), 3)
        return self.after(torch.cat([second, first], 1))


class Plugin(TorchCase):
    def test_one_engine_with_custom_operators(self):
        module = Bent().eval()
        x = torch.randn(3, 8)
        reported = tenfold.torch.explain(module, x, options=QUICK)
        self.assertEqual({o for o, _ in reported.breaks if 'tenfold_tests' in o},
                         {'tenfold_tests.bent.default', 'tenfold_tests.parts.default'})
        tenfold.torch.plugin(bent), tenfold.torch.plugin(torch.ops.tenfold_tests.parts)
        run, reports = self.compiled(module, dynamic=True)
        with torch.no_grad():
            for rows in (3, 5, 64):
                x = torch.randn(rows, 8)
                self.same(run(x), module(x))
        self.one_engine(reports)

    def test_what_is_no_plugin(self):
        for op, kind, word in ((torch.ops.aten.add_.Tensor, ValueError, 'writes'), (torch.ops.aten.cat, ValueError, 'tensors'),
                               (len, TypeError, 'custom_op')):
            with self.assertRaises(kind) as caught:
                tenfold.torch.plugin(op)
            self.assertIn(word, str(caught.exception))


if __name__ == '__main__':
    unittest.main()
