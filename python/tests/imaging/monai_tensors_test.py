"""torch's tensors, MetaTensors and their types beside MONAI 1.6.1."""
import unittest

from monai_case import MonaiCase, Network, noise, torch
from window_cases import relative_difference

from tenfold.imaging import sliding_window_inference


class Meta(MonaiCase):
    def image(self, dtype=torch.float32):
        from monai.data import MetaTensor
        affine = torch.diag(torch.tensor([2., 3., 4., 1.]))
        return MetaTensor(noise(1, 1, 9, 9, 9).to(dtype), affine=affine, meta={'name': 'x'})

    def test_a_tensor(self):
        for dtype in (torch.float32, torch.float64):
            kinds = []

            def network(x, kinds=kinds):
                kinds.append(type(x))
                return Network()(x)

            found, expected = self.both(self.image(dtype), 5, 2, network)
            self.assertEqual(set(kinds), {torch.Tensor})
            self.assertIs(type(found), type(expected))
            self.assertEqual((found.dtype, found.meta['name']), (expected.dtype, 'x'))
            torch.testing.assert_close(found.affine, expected.affine)
            torch.testing.assert_close(found.as_tensor(), expected.as_tensor())

    def test_tuples_and_dicts(self):
        """MONAI gives them an identity."""
        image = self.image()
        for network in (lambda x: (x, x + 1), lambda x: {'a': x, 'b': x + 1}):
            found = sliding_window_inference(image, 5, 2, network)
            for one in found.values() if isinstance(found, dict) else found:
                torch.testing.assert_close(one.affine, image.affine)
                self.assertEqual(one.meta['name'], 'x')


class Tensors(MonaiCase):
    def test_inputs_are_left_alone(self):
        """MONAI multiplies a predictor's outputs in place, which may be views of the image."""
        image = noise(1, 1, 9).requires_grad_()
        before = image.detach().clone()
        result = sliding_window_inference(image, 5, 1, lambda x: x, mode='gaussian')
        self.assertFalse(result.requires_grad)
        torch.testing.assert_close(image.detach(), before)

    def test_heads_as_cytodl_asks_for_them(self):
        def network(x, run_heads):
            return {head: Network()(x) + i for i, head in enumerate(run_heads)}

        image = noise(1, 1, 12, 20, 20)
        found, expected = self.both(image, (8, 16, 16), 2, network, 0.5, 'gaussian', run_heads=['seg', 'dist'])
        self.assertEqual(list(found), ['dist', 'seg'])
        for key in expected:
            self.near(found[key], expected[key])

    def test_halves(self):
        """MONAI sums in the image's type: its error is 0.01."""
        image = noise(1, 1, 30, 30)
        _, exact = self.both(image.double(), 8, 4, Network, 0.75, 'gaussian')
        for dtype, limit in ((torch.float16, 1e-3), (torch.bfloat16, 8e-3)):   # of rounding the image and the result
            found = sliding_window_inference(image.to(dtype), 8, 4, lambda x: Network()(x.float()), 0.75, 'gaussian')
            self.assertEqual(found.dtype, dtype)
            self.assertLess(relative_difference(found.double().numpy(), exact.numpy()), limit)

    def test_integers(self):
        image = noise(1, 1, 30, 30)
        for dtype in (torch.uint8, torch.uint16, torch.int64, torch.bool):
            given = (image * 200 if dtype != torch.bool else image > 0.5).to(dtype)
            found = sliding_window_inference(given, 8, 4, Network(), mode='gaussian')
            self.near(found, self.both(given.float(), 8, 4, Network, mode='gaussian')[1])

    def test_outputs_of_integers(self):
        found = sliding_window_inference(noise(1, 1, 30, 30), 8, 4, lambda x: x > 0.5)
        self.near(found, self.both(noise(1, 1, 30, 30), 8, 4, lambda x: (x > 0.5).float())[1])

    def test_a_batch_of_none(self):
        found = sliding_window_inference(noise(0, 2, 9, 9), 4, 2, lambda x: {'a': x[:, :1], 'b': x[..., ::2, ::2]})
        self.assertEqual([tuple(y.shape) for y in found.values()], [(0, 1, 9, 9), (0, 2, 4, 4)])


if __name__ == '__main__':
    unittest.main()
