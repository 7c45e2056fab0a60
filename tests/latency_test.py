"""`tenfold latency` and `tenfold doctor`: latency_test.py TENFOLD. Files are read by HdrHistogram's Python package where it is there."""

import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

import cli_case
from cli_case import CliCase, np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
QUICK = ['--rate=2000', '--duration=0.5', '--warmUp=50', '--builderOptimizationLevel=0']


class LatencyCase(CliCase):
    def setUp(self):
        super().setUp()
        self.toy = self.save_toy('toy.onnx', 1)

    def save_toy(self, name, seed):
        """Two convolutions over 32 values, and a product."""
        random = np.random.default_rng(seed)
        shapes = {'w1': (8, 1, 3), 'b1': (8,), 'w2': (16, 8, 3), 'b2': (16,), 'w3': (2, 512), 'b3': (2,)}
        return cli_case.save_model(
            self.path(name),
            [
                helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], pads=[1, 1]),
                helper.make_node('Relu', ['a'], ['ar']),
                helper.make_node('Conv', ['ar', 'w2', 'b2'], ['b'], pads=[1, 1]),
                helper.make_node('Relu', ['b'], ['br']),
                helper.make_node('Flatten', ['br'], ['f']),
                helper.make_node('Gemm', ['f', 'w3', 'b3'], ['y'], transB=1),
            ],
            [('x', FLOAT, [1, 1, 32])],
            [('y', FLOAT, [1, 2])],
            [numpy_helper.from_array(random.standard_normal(s).astype(np.float32), k) for k, s in shapes.items()],
        )

    def latency(self, *flags, **options):
        return json.loads(self.tenfold('latency', *QUICK, '--json', *flags, **options).stdout)

    def test_report_and_files(self):
        log, table, plot = self.path('l.hlog'), self.path('l.hgrm'), self.path('l.svg')
        reported = self.latency(f'--onnx={self.toy}', f'--exportHistogram={log}', f'--exportPercentiles={table}', f'--plot={plot}')
        self.assertEqual((reported['asked'], reported['answered'], reported['dropped'], reported['failed']), (1000, 1000, 0, 0))
        self.assertEqual(reported['backend'], 'engine')
        for times in ('response_us', 'service_us', 'hiccups_us'):
            values = [reported[times][key] for key in ('p50', 'p95', 'p99', 'p99_9', 'p99_99', 'max')]
            self.assertEqual(values, sorted(values), times)
            self.assertGreater(values[-1], 0)
        self.assertGreaterEqual(reported['response_us']['p50'], reported['service_us']['p50'])
        self.assertGreater(reported['closed_loop_rate'], 1000)
        with open(table) as f:
            text = f.read()
        rows = [[float(cell) for cell in line.split()] for line in text.splitlines() if re.match(r' *\d', line)]
        self.assertEqual([row[2] for row in rows], sorted(row[2] for row in rows))
        self.assertEqual(rows[-1][1:], [1.0, 1000.0])
        self.assertIn('Total count    =         1000]', text)
        self.assertGreater(len(xml.etree.ElementTree.parse(plot).getroot()), 20)
        self.read_log(log, reported)

    def read_log(self, path, reported):
        try:
            from hdrh.log import HistogramLogReader, HdrHistogram
        except ImportError as missing:
            self.skipTest(str(missing))
        reader = HistogramLogReader(path, HdrHistogram(1, 60_000_000_000, 3))
        found = {}
        while histogram := reader.get_next_interval_histogram():
            found[histogram.get_tag()] = histogram
        self.assertEqual(set(found), {'response', 'service', 'hiccups'})
        for tag, histogram in found.items():
            times = reported[f'{tag}_us']
            self.assertEqual(histogram.get_total_count(), times['count'])
            for percent, key in ((50, 'p50'), (95, 'p95'), (99, 'p99'), (99.9, 'p99_9')):
                value = times[key] * 1000
                self.assertAlmostEqual(histogram.get_value_at_percentile(percent) / value, 1, delta=1.1e-3, msg=f'{tag} {percent}')
            self.assertAlmostEqual(histogram.get_mean_value() / (times['mean'] * 1000), 1, delta=1e-3)

    def test_text_streams_rings_and_sweep(self):
        text = self.tenfold('latency', f'--onnx={self.toy}', *QUICK, '--streams=5', '--sweep=1000,3000', '--arrivals=poisson').stdout
        self.assertEqual(text.count('  response '), 2)
        self.assertIn('1000 requests a second', text)
        self.assertIn('3000 requests a second', text)
        self.assertIn('page faults', text)
        self.assertNotIn('late ', text)   # than what? there is no deadline
        self.assertIn(', late ', self.tenfold('latency', f'--onnx={self.toy}', *QUICK, '--deadline=1e6').stdout)
        reported = self.latency(f'--onnx={self.toy}', '--rings=128', '--whenFull=drop_oldest', '--spin=200')
        self.assertEqual(reported['asked'], 1000)
        self.assertEqual(reported['answered'] + reported['dropped'], 1000)
        swept = self.latency(f'--onnx={self.toy}', '--sweep', '--duration=0.1')
        rates = [run['rate_asked'] for run in swept['runs']]
        self.assertEqual(len(rates), 5)
        self.assertEqual(rates, sorted(rates))

    def test_sizes(self):
        reported = self.latency('--sizes=A', '--rate=100')
        self.assertEqual(reported['name'], 'LSTM A')
        self.assertEqual(reported['failed'], 0)
        self.refused(2, "'D' is none of A, B and C", 'latency', '--sizes=D')

    def test_newest_row(self):
        whole = self.latency('--sizes=A', '--rate=100')
        self.assertNotIn('newest_row', whole)
        reported = self.latency('--sizes=A', '--newestRow=x:1', '--rate=100')
        self.assertEqual((reported['answered'], reported['newest_row']['full_recompute']), (50, 0))
        self.assertEqual(set(reported['published_p99_us'].values()), {4.7, 35.2, 5.07})
        self.assertNotIn('published_p99_us', whole)
        self.assertLess(reported['newest_row']['late_start'], 25)
        self.assertLess(3 * reported['service_us']['p50'], whole['service_us']['p50'])
        many = self.latency('--sizes=A', '--newestRow=x:1', '--rate=100000', '--duration=0.02')
        self.assertGreater(many['newest_row']['late_start'], many['answered'] // 2)   # rows cannot come faster than windows take
        rings = self.latency('--sizes=A', '--newestRow=x:1', '--rate=100', '--rings')
        self.assertLess(rings['newest_row']['full_recompute'], rings['answered'] // 2)
        mixed = self.latency('--sizes=A', '--newestRow=x:1', '--rate=100', '--rings', '--streams=3', '--duration=0.1')
        self.assertEqual(mixed['newest_row']['full_recompute'], mixed['answered'])
        text = self.tenfold('latency', *QUICK, '--sizes=A', '--newestRow=x:1', '--rate=100', '--duration=0.1').stdout
        self.assertRegex(text, r'newest row: .* late start \d+ .*, whole windows 0\n')
        self.assertRegex(text, r'p99 of this size, newest row: service [\d.]+ here; published, .*: 4.7 GH200')
        self.refused(2, "there is no input 'q'", 'latency', '--sizes=A', '--newestRow=q:1')

    def test_candidates(self):
        plan = self.make_plan('toy.plan', self.toy)
        reported = self.latency(f'--loadEngine={plan}', f'--onnx={self.toy}')
        self.assertEqual([r['name'] for r in reported['candidates']], ['engine', 'cpu'])
        self.assertEqual(reported['backend'], 'engine')
        with open(plan, 'rb') as f:
            data = f.read()
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 1
        for name, content in (('cut.plan', data[:-50]), ('flipped.plan', bytes(flipped))):
            path = self.write(name, content)
            reported = self.latency(f'--loadEngine={path}', f'--onnx={self.toy}')
            self.assertEqual(reported['backend'], 'cpu')
            self.assertTrue(reported['candidates'][0]['why'])
            self.refused(4, "'engine' cannot be used", 'latency', *QUICK, f'--loadEngine={path}', f'--onnx={self.toy}', '--strict')
        self.refused(4, 'none.plan', 'latency', *QUICK, '--loadEngine=none.plan', f'--onnx={self.toy}', '--strict')
        self.assertEqual(self.latency('--loadEngine=none.plan', f'--onnx={self.toy}')['backend'], 'cpu')
        other = self.latency(f'--loadEngine={plan}', f'--onnx={self.save_toy("new.onnx", 2)}')
        self.assertEqual(other['backend'], 'cpu', 'the plan is of another model')
        self.assertIn('differ from those of', other['candidates'][0]['why'])

    def test_bad_input(self):
        onnx = f'--onnx={self.toy}'
        for expected, *flags in (
            ('--rate must be above 0', onnx, '--rate=0'),
            ('--duration must be above 0', onnx, '--duration=0'),
            ('CPU 4000 does not exist, or this process may not use it', onnx, '--cpus=4000'),
            ('constant, poisson', onnx, '--arrivals=often'),
            ('pass, fail', onnx, '--nan=maybe'),
            ('--rings', onnx, '--rings=0'),
            ('--priority', onnx, '--priority=100'),
            ('say what to run', '--rate=5'),
            ('say what to run', onnx, '--sizes=A'),
            ('flags alone', onnx, 'extra'),
        ):
            with self.subTest(flags=flags):
                self.refused(2, expected, 'latency', *flags)
        self.refused(1, 'cannot', 'latency', onnx, f'--plot={self.path("no/such/folder.svg")}')
        ranges = (f"--{which}Shapes='x:0':{batch}x6" for which, batch in (('min', 1), ('opt', 2), ('max', 4)))
        dynamic = self.make_plan('dynamic.plan', None, *ranges)
        self.refused(2, "input 'x:0' has the shape -1x6", 'latency', f'--loadEngine={dynamic}')

    def test_termination_tells_what_there_was(self):
        running = subprocess.Popen(
            [cli_case.TENFOLD, 'latency', f'--onnx={self.toy}', *QUICK, '--duration=60', '--json'], stdout=subprocess.PIPE, text=True
        )
        time.sleep(5)
        running.send_signal(signal.SIGTERM)
        out = running.communicate(timeout=20)[0]
        self.assertEqual(running.returncode, 0)
        reported = json.loads(out)
        self.assertGreater(reported['asked'], 0)
        self.assertLess(reported['asked'], 60 * 2000)
        self.assertEqual(reported['asked'], reported['answered'] + reported['dropped'])

    def test_doctor_tells_of_gpus(self):
        folder = os.environ.get('TENFOLD_FAKE_NVML')
        if not folder:
            self.skipTest('TENFOLD_FAKE_NVML names no folder')
        done = self.tenfold('doctor', '--latency', '--duration=0', '--json', env={**os.environ, 'LD_LIBRARY_PATH': folder})
        clocks = next(f for f in json.loads(done.stdout)['findings'] if f['topic'] == 'GPU clocks')
        self.assertFalse(clocks['good'])
        self.assertEqual(
            clocks['found'],
            '0 Pretended 0, SM clock 1200 of 1980 MHz, memory 2600 MHz, 40 C, 37 % busy, 250 W, 123457 J since its start, '
            '20480 MiB used, 61440 MiB free; 1 Pretended 1, SM clock 1200 of 1980 MHz, memory 2600 MHz, 91 C, 37 % busy, 250 W, '
            '20480 MiB used, 61440 MiB free, sleeps while unused, slowed by power cap, heat',
        )

    def test_doctor_changes_nothing(self):
        def settings():
            paths = ['/proc/sys/kernel/sched_rt_runtime_us', '/sys/kernel/mm/transparent_hugepage/enabled']
            return [open(p).read() for p in paths]

        before = settings()
        reported = json.loads(self.tenfold('doctor', '--latency', '--duration=0.05', '--json').stdout)
        self.assertEqual(settings(), before)
        topics = {f['topic']: f for f in reported['findings']}
        expected_value = {'isolcpus', 'nohz_full', 'rcu_nocbs', 'governor', 'C-states', 'swap', 'real-time throttling', 'NUMA'}
        self.assertLessEqual(expected_value, set(topics))
        runtime = int(open('/proc/sys/kernel/sched_rt_runtime_us').read())
        self.assertEqual(topics['real-time throttling']['good'], runtime < 0 or runtime >= 1_000_000)
        self.assertEqual({h['cpu'] for h in reported['hiccups_us']}, os.sched_getaffinity(0))
        self.assertIn('hiccups of an idle loop', self.tenfold('doctor', '--latency', '--duration=0.05').stdout)
        self.refused(2, '--cpus needs --latency', 'doctor', '--cpus=0')
        self.assertIn('load', {finding['topic'] for finding in reported['findings']})
        self.refused(2, 'CPU 4000 does not exist', 'doctor', '--latency', '--cpus=4000')


if __name__ == '__main__':
    cli_case.main()
