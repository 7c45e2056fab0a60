"""Compiled modules whose batch changes, in every order of sizes; on a GPU, too, where there is one. The truth is torch's eager mode."""
import itertools

from torch_case import MLP, QUICK, TorchCase, torch, unittest

SIZES = (2, 3, 4)
DEVICES = ('cpu', 'cuda') if torch.cuda.is_available() else ('cpu',)


class Orders(TorchCase):
    def walked(self, device, order, mark=False, **options):
        module = MLP(32).eval().to(device)
        torch._dynamo.reset()
        run, reports = self.compiled(module, **options)
        for i, batch in enumerate((*order, *reversed(order), *order)):
            x = torch.randn(batch, 8, device=device)
            if mark and i == 0:
                torch._dynamo.mark_dynamic(x, 0, min=1 if 1 in order else 2, max=64)
            with torch.no_grad(), self.subTest(device=device, order=order, run=i):
                self.same(run(x), module(x))
        self.assertEqual([b for r in reports for b in r.all_breaks()], [], f'{device} {order}')

    def test_every_order(self):
        for device, order in itertools.product(DEVICES, itertools.permutations(SIZES)):
            self.walked(device, order)

    def test_every_order_of_a_batch_that_may_vary(self):
        for device, order in itertools.product(DEVICES, itertools.permutations(SIZES)):
            self.walked(device, order, mark=True)

    def test_with_tuning(self):
        for device in DEVICES:
            self.walked(device, SIZES, optimization_level=1)

    def test_by_the_name_of_the_backend(self):
        """As it was reported: two layers, batches of 2, 3 and 4, nothing asked for."""
        for device in DEVICES:
            torch._dynamo.reset()
            module = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8), torch.nn.Softmax(-1))
            module = module.eval().to(device)
            run = torch.compile(module, backend='tenfold', options={**QUICK, 'min_block_size': 1})
            for batch in (2, 3, 4, 2, 5, 3, 64, 4, 5, 64, 2):
                x = torch.randn(batch, 16, device=device)
                with torch.no_grad(), self.subTest(device=device, batch=batch):
                    self.same(run(x), module(x))


@unittest.skipUnless(torch.cuda.is_available(), 'no GPU')
class OnStreams(TorchCase):
    def test_streams_and_sizes_that_change(self):
        module = MLP(32).eval().cuda()
        run, reports = self.compiled(module, dynamic=True)
        streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        for i, batch in enumerate(itertools.chain(*itertools.permutations((2, 3, 4, 5)))):
            with torch.no_grad(), torch.cuda.stream(streams[i % 3]):
                x = torch.randn(batch, 8, device='cuda')
                self.same(run(x), module(x))
        self.assertEqual([b for r in reports for b in r.all_breaks()], [])


if __name__ == '__main__':
    unittest.main()
