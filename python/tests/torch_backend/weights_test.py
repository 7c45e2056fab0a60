"""Weights that change after the first call are noticed at the next one."""
from torch_case import MLP, TorchCase, torch, unittest, warnings


class Weights(TorchCase):
    def changed(self, change, **options):
        module = MLP().eval()
        run, reports = self.compiled(module, **options)
        x = torch.randn(3, 8)
        before = run(x)
        with torch.no_grad():
            change(module)
        return run(x), module(x).detach(), before, reports

    def noticed(self, change):
        found, expected, before, reports = self.changed(change)
        self.assertGreater(float((expected - before).abs().max()), 1e-3)
        self.same(found, expected)
        self.assertEqual(sum(len(r.engines) for r in reports), 1)       # a refit, no new graph

    def test_load_state_dict(self):
        other = MLP()
        self.noticed(lambda m: m.load_state_dict(other.state_dict()))

    def test_in_place(self):
        self.noticed(lambda m: m.second.weight.mul_(-3))

    def test_another_tensor_behind_data(self):
        def change(module):
            module.second.weight.data = torch.randn(4, 16)
        self.noticed(change)

    def test_merged_through_data(self):                                 # as LoRA's merges write
        def change(module):
            module.first.weight.data += torch.randn(16, 8)
        self.noticed(change)

    def test_a_version_raised_by_hand(self):                            # for what nothing else shows: writes through data on a GPU
        def change(module):
            module.second.weight.data[0, 0] += 5                        # none of the two words that are compared
            torch.autograd.graph.increment_version(module.second.weight)
        self.noticed(change)

    def test_another_parameter(self):
        def change(module):
            module.second.weight = torch.nn.Parameter(torch.randn(4, 16))
        found, expected, _, _ = self.changed(change)
        self.same(found, expected)

    def test_frozen_skips_the_look(self):
        found, expected, before, _ = self.changed(lambda m: m.second.weight.mul_(-3), frozen=True)
        self.same(found, before)

    def test_parameters_that_torch_makes_attributes(self):         # as it does for inductor's freezing
        module = MLP().eval()
        with torch._dynamo.config.patch(prepare_freezing=True):
            run, reports = self.compiled(module)
            with torch.no_grad():
                self.same(run(torch.ones(2, 8)), module(torch.ones(2, 8)))
                self.assertIn(', 1 inputs,', reports[0].engines[0])

    def test_buffers(self):
        module = torch.nn.Sequential(torch.nn.Conv1d(3, 4, 3), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Conv1d(4, 2, 1),
                                     torch.nn.Tanh()).eval()
        run, reports = self.compiled(module)
        x = torch.randn(2, 3, 9)
        with torch.no_grad():
            self.same(run(x), module(x))
            module[1].running_mean += 1
            self.same(run(x), module(x))
        self.one_engine(reports)


class WritesThatCountNowhere(TorchCase):
    """Through .data or NumPy, to a part of a weight: found by a look at all bytes, a part of them at each call."""

    def late(self, module, x, write, most=16):
        """Calls until the result is that of the weights as they are; none in between is anything but that of the old or the new ones."""
        run, _ = self.compiled(module)
        with torch.no_grad(), warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter('always')
            run(x), run(x)
            before = module(x)
            write(module)
            expected = module(x)
            self.assertGreater(float((expected - before).abs().max()), 1e-3)
            for calls in range(1, most + 1):
                found = run(x)
                if torch.allclose(found, expected, rtol=1e-4, atol=1e-5):
                    break
                self.same(found, before)
            self.same(found, expected)
            self.same(run(x), expected)
        return calls, [str(w.message) for w in reported if 'increment_version' in str(w.message)]

    def table(self):
        return torch.nn.Sequential(torch.nn.Embedding(5000, 32), torch.nn.Linear(32, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8),
                                   torch.nn.Tanh()).eval()

    def test_few_weights_are_looked_at_in_each_call(self):
        def element(module):
            module.first.weight.data[3, 2] += 50
        calls, reported = self.late(MLP().eval(), torch.ones(3, 8), element)
        self.assertEqual((calls, len(reported)), (1, 1), reported)

    def test_a_row_of_a_table(self):
        def row(module):
            module[0].weight.data[7] = 3.0
        calls, reported = self.late(self.table(), torch.tensor([[7, 8]]), row)
        self.assertEqual(len(reported), 1, reported)
        self.assertIn('up to 15 calls', reported[0])

    def test_every_place_is_found_in_time(self):
        for row in range(0, 5000, 311):
            torch._dynamo.reset()

            def write(module, row=row):
                module[0].weight.data[row, 5] += 9
            self.late(self.table(), torch.tensor([[row]]), write)

    def test_rows_that_change_places(self):                       # their sum is the same
        def swap(module):
            module[0].weight.data[[7, 4000]] = module[0].weight.data[[4000, 7]].clone()
        self.late(self.table(), torch.tensor([[7]]), swap)

    def test_signs(self):
        def negate(module):
            module[0].weight.data[7].neg_()
        self.late(self.table(), torch.tensor([[7]]), negate)

    def test_a_pruned_column(self):
        module = torch.nn.Sequential(torch.nn.Linear(512, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8), torch.nn.ReLU(),
                                     torch.nn.Linear(8, 8), torch.nn.Tanh()).eval()

        def prune(module):
            module[0].weight.data[:, 3] = 0
        self.late(module, torch.ones(1, 512) * 9, prune)

    def test_numpy(self):
        def write(module):
            module[0].weight.detach().numpy()[7] = 3
        self.late(self.table(), torch.tensor([[7]]), write)

    def test_a_kernel_that_lies_by_channels(self):                # channels_last: not row by row
        module = torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 8, 3), torch.nn.ReLU(),
                                     torch.nn.Flatten(), torch.nn.Tanh()).eval().to(memory_format=torch.channels_last)

        def write(module):
            module[0].weight.data[5, 6] += 2
        self.late(module, torch.randn(1, 64, 6, 6).contiguous(memory_format=torch.channels_last), write)

    def test_weights_that_were_written_together_change_together(self):
        module = torch.nn.Sequential(torch.nn.Embedding(5000, 32), torch.nn.Embedding(5000, 32)).eval()

        class Both(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.tables = module

            def forward(self, x):
                return torch.tanh(self.tables[0](x) * 0.5) + torch.tanh(self.tables[1](x) * 0.25).exp()

        def write(both):
            for table in both.tables:
                table.weight.data[7] += 1
        self.late(Both().eval(), torch.tensor([[7]]), write)      # which refuses a result of one old and one new table


class Watch(TorchCase):
    def watched(self, *tensors):
        from tenfold import _native
        return _native.TorchWatch(list(range(len(tensors))), list(tensors))

    def test_all_plain_tensors_are_asked_without_python(self):
        with torch.inference_mode():
            still = torch.ones(3)
        tensors = [torch.randn(4), torch.nn.Parameter(torch.randn(2, 3)), torch.empty(0), torch.randn(3, 4).t(), torch.randn(9)[2:], still]
        watch = self.watched(*tensors)
        self.assertEqual(watch.quick, len(tensors))
        self.assertEqual(watch.changed(tensors), [])
        self.assertEqual(watch.changed(tuple(tensors)), [])
        with torch.no_grad():
            tensors[1].zero_(), tensors[3].zero_()
        self.assertEqual(watch.changed(tensors), [1, 3])
        watch.keep(tensors)
        self.assertEqual(watch.changed(tensors), [])
        for arguments in (tensors[:5], [], ()):
            with self.assertRaises(IndexError):
                watch.changed(arguments)
        with self.assertRaises(TypeError):
            watch.changed({})

    def test_tensors_that_change_below_their_objects(self):
        a, b, c, d = (torch.ones(64) for _ in range(4))
        watch = self.watched(a, b, c, d)
        torch.utils.swap_tensors(a, torch.ones(64))            # the same object, another tensor of C++
        b.data = torch.ones(64)
        c.untyped_storage().resize_(0)
        d.set_(torch.ones(64))
        self.assertEqual(watch.changed([a, b, c, d]), [0, 1, 2, 3])

    def test_subclasses_are_asked_by_python(self):
        class Own(torch.Tensor):
            pass
        own = torch.ones(8).as_subclass(Own)
        watch = self.watched(own)
        self.assertEqual((watch.quick, watch.changed([own])), (0, []))
        own.add_(1)
        self.assertEqual(watch.changed([own]), [0])


if __name__ == '__main__':
    unittest.main()
