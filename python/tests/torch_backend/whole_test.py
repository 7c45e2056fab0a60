"""Functions of torch that reach engines in one piece: each is one node of a network, not what torch takes it apart into."""
from unittest import mock

from torch_case import QUICK, TorchCase, tenfold, torch, unittest
from torch.nn import functional


class Networks:
    """Operators of the networks that are built meanwhile, counted."""

    def __enter__(self):
        self.counts, build = {}, tenfold.build

        def seen(network, **options):
            def dump(name, graph):
                for line in graph.splitlines() if name == 'import' else ():
                    if ' = ' in line and '(' in line:
                        op = line.split(' = ')[1].split('(')[0]
                        self.counts[op] = self.counts.get(op, 0) + 1
            return build(network, **{**options, 'dump': dump})
        self._patch = mock.patch.object(tenfold, 'build', seen)
        self._patch.__enter__()
        return self

    def __exit__(self, *error):
        return self._patch.__exit__(*error)

    def of(self, op):
        return self.counts.get(op, 0)


def resized(**options):
    return lambda x: torch.relu(functional.interpolate(x * 2, **options) - 0.1).exp().sin() + 1


class Whole(TorchCase):
    def check(self, module, *args, dynamic=None, **counts):
        run, reports = self.compiled(module, dynamic=dynamic)
        with torch.no_grad(), Networks() as networks:
            self.same(run(*args), module(*args))
        self.one_engine(reports[-1:])              # torch may ask to trace anew
        for op, count in counts.items():
            self.assertEqual(networks.of(op), count, networks.counts)

    def test_many_heads(self):
        module = torch.nn.MultiheadAttention(16, 4).eval()
        mask = torch.triu(torch.full((5, 5), -torch.inf), 1)
        for given in (None, mask):
            torch._dynamo.reset()
            self.check(lambda x, m=given: module(x, x, x, need_weights=False, attn_mask=m)[0] + 1, torch.randn(5, 2, 16),
                       FusedAttention=1, Softmax=0)

    def test_an_encoder(self):
        x = torch.randn(2, 7, 16)
        padding = torch.tensor([[False] * 7, [False] * 4 + [True] * 3])
        causal = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1)
        for options in ({}, {'norm_first': True, 'activation': 'gelu'}):
            layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **options).eval()
            for masks in ({}, {'src_key_padding_mask': padding}, {'src_mask': causal},
                          {'src_mask': causal, 'src_key_padding_mask': padding}):
                torch._dynamo.reset()
                self.check(lambda x, layer=layer, masks=masks: layer(x, **masks), x, FusedAttention=1, LayerNormalization=2, Softmax=0)
                torch._dynamo.reset()
                half = torch.compile(layer.half(), backend='tenfold', options=QUICK)
                with torch.no_grad():
                    torch.testing.assert_close(half(x.half(), **masks), layer(x.half(), **masks), rtol=2e-2, atol=2e-2)
                layer.float()

    def test_an_encoder_with_a_decoder(self):
        module = torch.nn.Transformer(16, 4, 2, 2, 32, batch_first=True).eval()
        x, y = torch.randn(2, 7, 16), torch.randn(2, 5, 16)
        self.check(module, x, y, FusedAttention=6, Softmax=0)

    def test_in_an_exported_module(self):
        module = torch.nn.Transformer(16, 4, 1, 1, 32, batch_first=True).eval()
        x, y = torch.randn(2, 7, 16), torch.randn(2, 5, 16)
        with Networks() as networks:
            engine = tenfold.torch.export(module, (x, y), optimization_level=0)
        with torch.no_grad():
            torch.testing.assert_close(tenfold.torch.load(engine)(x, y), module(x, y), rtol=1e-4, atol=1e-5)
        self.assertEqual(networks.of('FusedAttention'), 3, networks.counts)

    def test_attention_of_halves_under_a_mask_of_truth_values(self):
        q, k, v = (torch.randn(2, 3, 6, 8).half() for _ in range(3))
        mask = torch.rand(2, 1, 6, 6) > 0.3
        mask[..., 0] = True
        run, reports = self.compiled(lambda q, k, v: functional.scaled_dot_product_attention(q, k * 2, v, mask).tanh().exp() - 1)
        with torch.no_grad(), Networks() as networks:
            found = run(q, k, v)
        expected = functional.scaled_dot_product_attention(q.double(), k.double() * 2, v.double(), mask).tanh().exp() - 1
        torch.testing.assert_close(found.double(), expected, rtol=5e-3, atol=5e-3)
        self.one_engine(reports)
        self.assertEqual((networks.of('FusedAttention'), networks.of('Attention')), (1, 0))

    def test_interpolation(self):
        x = torch.randn(2, 3, 8, 6)
        for options in ({'scale_factor': 2.0}, {'scale_factor': (3, 2)}, {'size': (16, 9)}, {'size': 12, 'mode': 'bilinear'},
                        {'scale_factor': 2, 'mode': 'bilinear', 'align_corners': True}, {'scale_factor': 0.5, 'mode': 'bilinear'}):
            for memory in (torch.contiguous_format, torch.channels_last):
                torch._dynamo.reset()
                self.check(resized(**options), x.to(memory_format=memory), Resize=1, GatherND=0)
        torch._dynamo.reset()
        self.check(resized(scale_factor=2, mode='linear'), torch.randn(2, 3, 9), Resize=1)
        torch._dynamo.reset()
        self.check(resized(scale_factor=2, mode='trilinear'), torch.randn(1, 2, 3, 4, 5), Resize=1)
        torch._dynamo.reset()
        self.check(resized(scale_factor=2.0), x, dynamic=True, Resize=1)

    def test_interpolation_that_an_engine_would_do_otherwise(self):
        x = torch.randn(2, 3, 8, 6)
        for options in ({'scale_factor': 1.3}, {'scale_factor': 0.5, 'mode': 'area'}, {'size': 5, 'mode': 'nearest-exact'},
                        {'size': 5, 'mode': 'bilinear', 'antialias': True}, {'size': (5, 7), 'mode': 'bicubic'},
                        {'scale_factor': 1.3, 'recompute_scale_factor': True}):
            torch._dynamo.reset()
            module = resized(**options)
            run, _ = self.compiled(module)
            with torch.no_grad():
                self.same(run(x), module(x))


if __name__ == '__main__':
    unittest.main()
