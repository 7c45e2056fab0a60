"""Where a graph goes on in one engine: attention of any axes, boxes, experts, and sizes that follow from an axis of an input."""
import torchvision
import transformers
from torch_case import TorchCase, tenfold, torch, unittest
from torch.nn.functional import interpolate, scaled_dot_product_attention

i0 = torch.special.i0                # which no engine computes


class Attention(TorchCase):
    def whole(self, function, *args):
        run, reports = self.compiled(function, min_block_size=1)
        with torch.no_grad():
            self.same(run(*args), function(*args))
        self.one_engine(reports)

    def test_axes(self):
        for shape in ((5, 8), (2, 5, 8), (2, 3, 5, 8), (2, 3, 4, 5, 8), (2, 1, 2, 3, 5, 8)):
            for causal in (False, True):
                torch._dynamo.reset()
                with self.subTest(shape=shape, causal=causal):
                    self.whole(lambda x, c=causal: scaled_dot_product_attention(x, x * 2, x + 1, is_causal=c), torch.randn(shape))

    def test_masks(self):
        for shape, mask in (((2, 5, 8), (5, 5)), ((2, 5, 8), (2, 5, 5)), ((2, 3, 4, 5, 8), (5, 5)), ((2, 3, 4, 5, 8), (4, 5, 5)),
                            ((2, 3, 4, 5, 8), (3, 1, 5, 5)), ((2, 3, 4, 5, 8), (2, 1, 1, 1, 5))):
            for given in (torch.randn(mask), torch.rand(mask) > 0.2):
                torch._dynamo.reset()
                with self.subTest(shape=shape, mask=mask, dtype=given.dtype):
                    self.whole(lambda x, m: scaled_dot_product_attention(x, x * 2, x + 1, m), torch.randn(shape), given)

    def test_fewer_keys_and_batches_of_one(self):
        self.whole(lambda q, k: scaled_dot_product_attention(q, k, k * 2, enable_gqa=True),
                   torch.randn(2, 8, 5, 8), torch.randn(2, 2, 7, 8))
        torch._dynamo.reset()
        self.whole(lambda q, k: scaled_dot_product_attention(q, k, k * 2), torch.randn(2, 4, 5, 8), torch.randn(1, 1, 7, 8))

    def test_a_batch_that_varies(self):
        def function(x):
            return scaled_dot_product_attention(x, x * 2, x)
        run, reports = self.compiled(function, min_block_size=1)
        for batch in (3, 5, 2):
            x = torch.randn(batch, 4, 2, 6, 8)
            torch._dynamo.mark_dynamic(x, 0)
            self.same(run(x), function(x))
        self.one_engine(reports)


class Boxes(TorchCase):
    def test_nms(self):
        corners = torch.rand(20, 4) * 30
        boxes = torch.cat([corners[:, :2], corners[:, :2] + corners[:, 2:] + 1], 1)

        def chosen(boxes, scores):
            moved = torch.relu(boxes)
            return moved[torchvision.ops.nms(moved, scores, 0.3)] * 2
        for scores in (torch.rand(20), torch.randint(0, 3, (20,)).float() - 1.5):       # equal ones, and ones below zero
            torch._dynamo.reset()
            with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):     # else torch itself ends the graph here
                run, reports = self.compiled(chosen, min_block_size=1)
                self.same(run(boxes, scores), chosen(boxes, scores))
            self.one_engine(reports)


class Experts(TorchCase):
    def test_mixtral(self):
        config = transformers.MixtralConfig(vocab_size=99, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                                            num_key_value_heads=2, num_local_experts=4, use_cache=False)
        module = transformers.MixtralForCausalLM(config).eval()
        tokens = torch.randint(0, 99, (2, 7))
        run, reports = self.compiled(module)
        with torch.no_grad():
            self.same(run(tokens).logits, module(tokens).logits)
        self.one_engine(reports)


class Sizes(TorchCase):
    """An engine behind what torch computes, whose inputs show a symbol as a line of it alone."""

    def varied(self, function, breaks, rows=(5, 9, 3, 20)):
        run, reports = self.compiled(function, dynamic=True, min_block_size=1)
        for n in rows:
            x = torch.randn(n, 4)
            self.same(run(x), function(x))
        self.assertEqual([b for r in reports for b in r.all_breaks() if 'i0' not in b[0]], [])
        self.assertEqual(len(reports[0].engines), breaks + 1)

    def test_one_less(self):
        self.varied(lambda x: torch.tanh(i0(x[1:])) * x.shape[0], 1)

    def test_that_decreases(self):
        self.varied(lambda x: torch.tanh(i0(torch.zeros(30 - x.shape[0], 4) + x.mean())) * 2, 1)

    def test_times(self):
        self.varied(lambda x: torch.tanh(i0(torch.cat([x, x, x[:1]]))) + torch.arange(x.shape[0]).sum(), 1)


class Exported(TorchCase):
    def exported(self, module, args, **more):
        with torch.no_grad():
            loaded = tenfold.torch.load(tenfold.torch.export(module.eval(), args, optimization_level=0, **more))
            self.same(loaded(*args), module(*args))
        return loaded

    def test_every_interpolation(self):
        class Resized(torch.nn.Module):
            def __init__(self, mode):
                super().__init__()
                self.mode = mode

            def forward(self, x):
                more = {} if self.mode == 'nearest' else {'align_corners': True}
                return interpolate(torch.relu(x), size=[7] * (x.dim() - 2), mode=self.mode, **more)
        for mode, shape in (('trilinear', (1, 2, 3, 4, 5)), ('nearest', (1, 2, 3, 4, 5)), ('linear', (1, 2, 5)), ('bicubic', (1, 2, 4, 5))):
            with self.subTest(mode=mode):
                self.exported(Resized(mode), (torch.randn(shape),))

    def test_an_exported_program_with_vec_overloads_and_checks(self):
        class Checked(torch.nn.Module):
            def forward(self, x):
                torch.ops.aten._assert_tensor_metadata(x, None, None, torch.float32)
                return torch.ops.aten.upsample_trilinear3d.vec(x, None, False, [2.0, 2.0, 2.0]).to(torch.float64)
        x = torch.randn(1, 2, 3, 4, 5)
        program = torch.export.export(Checked(), (x,))
        self.assertIn('_assert_tensor_metadata', str(program.graph))
        engine = tenfold.torch.export(program, optimization_level=0)
        self.same(tenfold.torch.load(engine)(x), Checked()(x))

    def test_an_input_that_is_one_less(self):
        class Less(torch.nn.Module):
            def forward(self, x, y):
                return torch.tanh(x)[1:] + y, torch.relu(y)
        batch = torch.export.Dim('batch', min=2, max=50)
        loaded = self.exported(Less(), (torch.randn(5, 4), torch.randn(4, 4)), dynamic_shapes=({0: batch}, {0: batch - 1}))
        x, y = torch.randn(8, 4), torch.randn(7, 4)
        self.same(loaded(x, y), Less()(x, y))


if __name__ == '__main__':
    unittest.main()
