#!/usr/bin/env python3
"""`tenfold report`: report_test.py TENFOLD. What --json prints is compared with the page that a browser shows, and with NumPy's counts."""

import json
import os
import pathlib
import re
import time
import unittest

import browser
import cli_case
from cli_case import FLOAT, CliCase, helper, np, numpy_helper, onnx, save_model

HOSTILE = '</script><script>window.harmed=1</script><img src=x onerror="window.harmed=1">&amp;\u2028"\\\''
SHORT = ['--iterations=2', '--duration=0', '--warmUp=0']
QUICK = [*SHORT, '--builderOptimizationLevel=1']


def weights(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


class ReportCase(CliCase):
    def setUp(self):
        super().setUp()
        node = helper.make_node
        self.net = save_model(
            self.path('net.onnx'),
            [
                node('Conv', ['x', 'w1'], ['c'], name='/body/block.0/Conv', pads=[1, 1, 1, 1]),
                node('Relu', ['c'], ['r'], name='/body/block.0/Relu'),
                node('MaxPool', ['r'], ['p'], name='/body/block.1/MaxPool', kernel_shape=[2, 2], strides=[2, 2]),
                node('Softmax', ['p'], ['s'], name=HOSTILE),
                node('Flatten', ['s'], ['f'], name='/head/Flatten'),
                node('MatMul', ['f', 'w2'], ['y'], name='/head/MatMul'),
            ],
            [('x', FLOAT, ['batch', 3, 16, 16])],
            [('y', FLOAT, ['batch', 10])],
            [numpy_helper.from_array(weights(8, 3, 3, 3), 'w1'), numpy_helper.from_array(weights(8 * 8 * 8, 10), 'w2')],
        )

    def data(self, *arguments):
        return json.loads(self.tenfold('report', *arguments, '--json').stdout)

    def page(self, *arguments):
        """The page's path, and the data in it."""
        self.tenfold('report', *arguments, '-o', self.path('page.html'))
        text = pathlib.Path(self.path('page.html')).read_text()
        return self.path('page.html'), json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])

    def with_more_outputs(self):
        """The same model, whose Conv is an output: its Relu becomes a step of its own."""
        model = onnx.load(self.net)
        model.graph.output.append(helper.make_tensor_value_info('c', FLOAT, ['batch', 8, 16, 16]))
        onnx.save(model, self.path('more.onnx'))
        return self.path('more.onnx')


class Report(ReportCase):
    def test_figures(self):
        plan = self.data(self.net, '--shapes=x:2x3x16x16', *QUICK)['plans'][0]
        steps = {name: s for s in plan['steps'] for name in [plan['nodes'][n] for n in s['nodes']]}
        conv, product = steps['/body/block.0/Conv'], steps['/head/MatMul']
        self.assertEqual(conv['flops'], 2 * 2 * 8 * 16 * 16 * 3 * 9)
        self.assertEqual(product['flops'], 2 * 2 * 512 * 10)
        self.assertAlmostEqual(sum(s['ms'] for s in plan['steps']), plan['steps_ms'])
        self.assertAlmostEqual(sum(s['share'] for s in plan['steps']), 1)
        for s in plan['steps']:
            if 'of_roof' in s:
                self.assertAlmostEqual(s['of_roof'], s['roof_ms'] / s['ms'])
        self.assertTrue(any(c['chosen'] for t in conv['tried'] for c in plan['tuning'][t]['tried']))
        self.assertEqual(conv['from'], [], 'it reads the input')
        self.assertEqual(plan['inputs'][0]['to'], [plan['steps'].index(conv)])
        order = [plan['steps'].index(steps[n]) for n in ('/body/block.0/Conv', '/body/block.1/MaxPool', HOSTILE, '/head/MatMul')]
        for before, after in zip(order, order[1:]):
            reached, known = [after], set()
            while reached:
                at = reached.pop()
                known.add(at)
                reached += plan['steps'][at]['from']
            self.assertIn(before, known, 'each reads what the one before wrote')
        for s in range(len(plan['steps'])):
            live = [b['bytes'] for b in plan['arena'] if b['first'] <= s < b['last'] + (not b['in_place'])]
            self.assertLessEqual(sum(live), plan['arena_bytes'])

    def test_nodes_that_are_fused_share_a_step(self):
        plan = self.data(self.net, *SHORT, '--builderOptimizationLevel=0')['plans'][0]   # times, at level 1, may cut them apart
        names = [[plan['nodes'][n] for n in step['nodes']] for step in plan['steps']]
        self.assertIn('/body/block.0/Relu', next(step for step in names if '/body/block.0/Conv' in step))

    def test_a_step_shows_what_was_tried_whether_or_not_times_cut_it_apart(self):
        nodes = lambda op: [helper.make_node('Conv', ['x', 'w'], ['c'], name='conv', pads=[1] * 4), helper.make_node(op, ['c'], ['y'])]
        values = [('x', FLOAT, [2, 3, 16, 16])], [('y', FLOAT, [2, 8, 16, 16])], [numpy_helper.from_array(weights(8, 3, 3, 3), 'w')]
        for op in ('Relu', 'Exp', 'Mish'):   # the latter two are mostly cut off
            plan = self.data(save_model(self.path(op + '.onnx'), nodes(op), *values), *QUICK)['plans'][0]
            steps = [s for s in plan['steps'] if s['name'].startswith('conv') and 'to plain' not in s['name']]
            self.assertTrue(steps)
            for step in steps:
                chosen = [c['tactic'] for t in step.get('tried', []) for c in plan['tuning'][t]['tried'] if c['chosen']]
                self.assertIn(step['kernel'], chosen, step['name'])

    def test_a_dynamic_plan_takes_its_shapes_from_the_run(self):
        flags = ['--minShapes=x:1x3x16x16', '--optShapes=x:2x3x16x16', '--maxShapes=x:4x3x16x16']
        plan = self.make_plan('net.plan', self.net, *flags)
        conv = lambda *more: max(s['flops'] for s in self.data(plan, *SHORT, *more)['plans'][0]['steps'])
        self.assertEqual(conv('--shapes=x:3x3x16x16'), 3 * 2 * 8 * 16 * 16 * 3 * 9)
        self.assertEqual(conv(), 2 * 2 * 8 * 16 * 16 * 3 * 9)

    def test_what_is_absent_is_named(self):
        plan = self.make_plan('net.plan', self.net)
        absent = {a['what']: a['how'] for a in self.data(plan, '--skipInference')['plans'][0]['absent']}
        self.assertEqual(set(absent), {'times', 'roofline', 'tried and lost'})
        self.assertIn('tenfold report MODEL.onnx', absent['tried and lost'])
        known = self.data(self.net, *QUICK)['plans'][0]
        self.assertEqual(known['absent'], [])
        self.assertIsNotNone(known['run_ms'])

    def test_a_plan_that_cannot_run_here_is_shown_without_times(self):
        planned = self.data(self.net, '--device=null', *QUICK)['plans'][0]
        self.assertIn('null device', {a['what']: a['why'] for a in planned['absent']}['times'])
        self.assertIsNone(planned['run_ms'])
        plan = self.make_plan('net.plan', self.net)
        if 'avx512' not in self.data(plan, '--skipInference')['plans'][0]['needs'].split():
            self.skipTest('this processor has no AVX-512 to leave out')
        unloaded = self.data(plan, '--cpuFeatures=avx2')['plans'][0]   # less than the plan needs
        self.assertIn('cannot be loaded here', {a['what']: a['why'] for a in unloaded['absent']}['times'])
        self.assertIsNone(unloaded['run_ms'])
        self.assertTrue(unloaded['steps'])

    def test_page_and_json_agree(self):
        plan = self.make_plan('net.plan', self.net)
        path, inside = self.page(plan, '--skipInference')
        self.assertEqual(inside, self.data(plan, '--skipInference'))
        text = pathlib.Path(path).read_text()
        around = re.sub(r'(?s)(<script type="application/json" id="data">).*?(</script>)', r'\1\2', text)
        self.assertNotRegex(around, r'(?i)<(link|img|iframe|base)\b|@import|url\((?!#)|\ssrc=')
        self.assertEqual(text.count('</script>'), text.count('<script'), 'a name ends no element')

    def test_two_plans(self):
        a = self.make_plan('a.plan', self.net)
        b = self.make_plan('b.plan', self.with_more_outputs())
        data = self.data(a, b, *SHORT)
        changes, (first, second) = data['changes'], data['plans']
        self.assertEqual(sorted(s for r in changes['rows'] for s in r['a']), list(range(len(first['steps']))))
        self.assertEqual(sorted(s for r in changes['rows'] for s in r['b']), list(range(len(second['steps']))))
        self.assertAlmostEqual(changes['steps_ms'], second['steps_ms'] - first['steps_ms'])
        self.assertAlmostEqual(sum(r['delta_ms'] for r in changes['rows']), changes['steps_ms'])
        self.assertGreater(len(second['steps']), len(first['steps']))
        self.assertIn('fusion', [w for r in changes['rows'] for w in r['what']])
        same = self.data(a, a, '--skipInference')['changes']
        self.assertEqual([r['what'] for r in same['rows']], [[]] * len(first['steps']))

    def test_refusals(self):
        self.write('text', b'no model')
        self.refused(1, "cannot open '" + self.path('none.plan'), 'report', self.path('none.plan'))
        self.refused(1, "cannot write '" + self.path('none/page.html'), 'report', self.net, '-o', self.path('none/page.html'))
        self.refused(1, 'it is a folder', 'report', self.net, '-o', self.path('.'))
        self.refused(3, self.path('text'), 'report', self.path('text'), '-o', self.path('page.html'))
        self.refused(2, 'one model or plan, or two to compare; 3 given', 'report', 'a', 'b', 'c')
        self.refused(2, 'one model or plan, or two to compare; 0 given', 'report')
        plan = self.make_plan('net.plan', self.net)
        self.write('broken.plan', pathlib.Path(plan).read_bytes()[:-100])
        self.refused(4, 'broken.plan', 'report', self.path('broken.plan'), '-o', self.path('page.html'))
        self.refused(2, '--useProfile=1', 'report', plan, '--useProfile=1', '-o', self.path('page.html'))


@unittest.skipUnless(browser.program(), 'no Chromium is installed (script/bootstrap browser installs it)')
class InABrowser(ReportCase):
    """What a reader sees and clicks."""

    def setUp(self):
        super().setUp()
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)
        self.browser.call('Emulation.setDeviceMetricsOverride', width=1500, height=1000, deviceScaleFactor=1, mobile=False)

    def opened(self, path, fragment=''):
        self.browser.open(pathlib.Path(path).as_uri() + fragment)
        self.assertEqual(self.browser.errors, [])
        self.assertEqual(self.browser.value('document.documentElement.dataset.ready'), 'yes')
        self.assertIsNone(self.browser.value('window.harmed ?? null'), 'a name of the model ran as a script')

    def texts(self, selector):
        return self.browser.value(f'[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)')

    def milliseconds(self, text):
        number, unit = text.replace(',', '').split()
        return float(number) * {'ms': 1, 'µs': 1e-3}[unit]

    def test_numbers_are_those_of_the_data(self):
        path, data = self.page(self.net, *QUICK)
        self.opened(path)
        plan = data['plans'][0]
        cards = dict(self.browser.value('[...document.querySelectorAll("[data-key]")].map(e => [e.dataset.key, +e.dataset.value])'))
        for key in ('run_ms', 'steps_ms', 'weight_bytes', 'arena_bytes'):
            self.assertEqual(cards[key], plan[key])
        rows = self.browser.value(
            '[...document.querySelectorAll("table.steps tbody tr")].map(r => { const t = r.querySelector("[data-ms]");'
            ' return [+t.dataset.step, +t.dataset.ms, t.textContent, +r.querySelector("[data-flops]").dataset.flops,'
            ' +r.querySelector("[data-bytes]").dataset.bytes]; })'
        )
        self.assertEqual(sorted(r[0] for r in rows), list(range(len(plan['steps']))))
        for index, ms, text, flops, moved in rows:
            step = plan['steps'][index]
            self.assertEqual((ms, flops, moved), (step['ms'], step['flops'], step['bytes']))
            self.assertAlmostEqual(self.milliseconds(text), step['ms'], delta=step['ms'] * 0.006)
        self.assertEqual([r[1] for r in rows], sorted((r[1] for r in rows), reverse=True), 'the slowest first')
        self.browser.value('document.querySelectorAll("#tuning details").forEach(d => d.open = true); new Promise(r => setTimeout(r, 100))')
        shown = self.browser.value('[...document.querySelectorAll("#tuning [data-ns]")].map(e => +e.dataset.ns)')
        tried = [c['nanoseconds'] for s in plan['steps'] for t in s.get('tried', []) for c in plan['tuning'][t]['tried']]
        self.assertEqual(sorted(shown), sorted(n for n in tried if n is not None))

    def test_search_and_folding(self):
        path, data = self.page(self.net, '--skipInference', '--builderOptimizationLevel=0')
        self.opened(path)
        steps = len(data['plans'][0]['steps'])
        shown = lambda: len(self.texts('.box.step'))
        self.browser.value('document.getElementById("unfold").click()')
        self.assertEqual(shown(), steps)
        self.browser.value('document.getElementById("fold").click()')
        folded = shown()
        self.assertLess(folded, steps)
        search = 'f => { const i = document.getElementById("find"); i.value = f; i.dispatchEvent(new Event("input")); }'
        self.browser.value(f'({search})("block.0/CONV")')
        self.assertEqual(self.texts('#found'), ['1 found'])
        self.browser.value('document.querySelector(".hits button").click()')
        self.assertGreater(shown(), folded, 'what was found is unfolded')
        self.assertIn('/body/block.0/Conv', self.texts('.detail')[0])
        self.assertEqual(len(self.texts('.box.step.selected')), 1)
        self.browser.value(f'({search})("window.harmed")')
        self.assertEqual(self.texts('#found'), ['1 found'])
        self.browser.value('document.querySelector(".hits button").click()')
        self.assertIn(HOSTILE, self.texts('.detail')[0])
        self.browser.value(f'({search})("nothing has this name")')
        self.assertEqual(self.texts('#found'), ['0 found'])
        group = self.browser.value('document.querySelector(".box.group").dataset.group')
        self.browser.value('document.querySelector(".box.group").dispatchEvent(new MouseEvent("click"))')
        self.assertIn(group, self.browser.value('[...document.querySelectorAll(".frame")].map(f => f.dataset.group)'))
        self.opened(path, '#open=all&step=0')
        self.assertEqual(shown(), steps)
        self.assertEqual(len(self.texts('[data-detail="0"]')), 1)

    def test_warnings_stand_on_top(self):
        path, data = self.page(self.net, '--skipInference', '--builderOptimizationLevel=0')
        self.opened(path)
        self.assertEqual(len(self.texts('#summary [data-absent]')), len(data['plans'][0]['absent']))
        self.assertEqual(len(self.texts('#summary [data-note]')), len(data['plans'][0]['notes']))
        self.assertTrue(data['plans'][0]['notes'], 'batch was fixed to 1, which a note says')

    def test_two_plans_side_by_side(self):
        a = self.make_plan('a.plan', self.net)
        b = self.make_plan('b.plan', self.with_more_outputs())
        path, data = self.page(a, b, *SHORT)
        self.opened(path)
        self.assertEqual(len(self.texts('svg.graph')), 2)
        change = self.browser.value('+document.querySelector("[data-change=steps_ms]").dataset.value')
        self.assertEqual(change, data['changes']['steps_ms'])
        deltas = self.browser.value('[...document.querySelectorAll("#changes [data-delta]")].map(e => +e.dataset.delta)')
        expected = [r['delta_ms'] for r in data['changes']['rows'] if r['what'] or r['delta_ms']]
        self.assertEqual(deltas, expected[: len(deltas)])
        self.assertTrue(deltas)
        self.browser.value('document.querySelector("svg.graph .box.step").dispatchEvent(new MouseEvent("click"))')
        self.assertIn('In plan B', self.texts('.side')[0])

    def test_dark_and_print(self):
        path, _ = self.page(self.net, '--skipInference', '--builderOptimizationLevel=0')
        ink = lambda: self.browser.value('getComputedStyle(document.body).color')
        self.browser.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
        self.opened(path)
        dark = ink()
        self.browser.call('Emulation.setEmulatedMedia', media='print', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
        self.assertEqual(ink(), 'rgb(0, 0, 0)')
        self.assertNotEqual(dark, ink())
        self.assertEqual(self.browser.value('getComputedStyle(document.querySelector(".tools")).display'), 'none')

    def test_twenty_thousand_steps(self):
        """Size and seconds are printed. A page that draws all steps at once would take minutes."""
        nodes, last = [], 'x:0'
        for i in range(20000):
            op = ('Sin', 'Softmax')[i % 2]   # which no pass fuses into one another
            nodes.append(helper.make_node(op, [last], [f't{i}'], name=f'/stage.{i // 1000}/layer.{i // 10}/{op}_{i}'))
            last = f't{i}'
        nodes.append(helper.make_node('Tanh', [last], ['y'], name='/last/Tanh'))
        model = save_model(self.path('long.onnx'), nodes, [('x:0', FLOAT, [2, 4])], [('y', FLOAT, [2, 4])])
        path, data = self.page(model, *QUICK[:3], '--builderOptimizationLevel=0')
        steps = len(data['plans'][0]['steps'])
        self.assertGreater(steps, 15000)
        start = time.monotonic()
        self.opened(path)
        seconds = time.monotonic() - start
        drawn = self.browser.value('document.querySelectorAll("*").length')
        size = os.path.getsize(path)
        print(f'{steps} steps: {size / 1e6:.1f} MB, loaded in {seconds:.2f} s, {drawn} elements')
        self.assertLess(drawn, 6000)
        self.assertLess(size, steps * 1500)
        self.assertLess(seconds, 20)
        self.opened(path, '#find=Sin_19998')
        self.assertEqual(self.texts('#found'), ['1 found'])
        self.browser.value('document.querySelector(".hits button").click()')
        self.assertEqual(len(self.texts('.box.step.selected')), 1)
        self.assertLess(self.browser.value('document.querySelectorAll("*").length'), 6000)


if __name__ == '__main__':
    cli_case.main()
