// The sections below the graph. Each is a function of a plan that gives an element, or null where there is nothing to say.
'use strict';

const roofBar = s => s.of_roof === undefined ?
    '–' :
    el('span.meter', {title: `least time ${time(s.roof_ms)}, bound by ${s.bound_by}`},
       el('span.fill', {style: `width:${Math.min(100, 100 * s.of_roof)}%`}), el('span', {}, percent(s.of_roof)));
const stepLink = (plan, s, onSelect) =>
    el('button.link.mono', {title: s.names.join(', ') || s.name, onclick: () => onSelect(plan, s, true)},
       cut(s.names.length ? s.names.join(' + ') : s.name, 48));

function alerts(plan) {
  const box = el('div.alerts');
  for (const n of plan.notes)
    box.append(
        el('div.alert.' + n.severity, {'data-note': n.kind}, el('b', {}, n.severity), ' ', n.step ? el('code', {}, n.step) : null, ' ',
           n.text));
  for (const a of plan.absent)
    box.append(
        el('div.alert.absent', {'data-absent': a.what}, el('b', {}, 'not on this page: ' + a.what), ` — ${a.why}. `,
           el('span.how', {}, 'How to get it: ' + a.how)));
  if (plan.timed && plan.run_ms > 1.5 * plan.steps_ms && plan.run_ms > plan.steps_ms + 0.1)
    box.append(
        el('div.alert.warning', {'data-busy': ''}, el('b', {}, 'busy machine'),
           ` A whole run took ${time(plan.run_ms)}, its steps ${time(plan.steps_ms)}: `,
           'other programs took the processor meanwhile, so that times and the roof are uncertain.'));
  return box.childElementCount ? box : null;
}

function summary(plan) {
  const cards = [
    [plan.run_ms === null ? '–' : time(plan.run_ms), 'a run', plan.run_ms, 'run_ms', `median of ${plan.runs} runs, without the step timer`],
    [time(plan.steps_ms), 'all steps', plan.steps_ms, 'steps_ms', 'sum of the medians of steps, each timed by itself'],
    [String(plan.steps.length), plan.steps.length === 1 ? 'step' : 'steps', plan.steps.length, 'steps', `of ${plan.nodes.length} nodes of the model`],
    [bytes(plan.weight_bytes), 'weights', plan.weight_bytes, 'weight_bytes', 'as the plan stores them, packed'],
    [bytes(plan.arena_bytes), 'arena', plan.arena_bytes, 'arena_bytes', `largest live sum ${bytes(plan.arena_live_bytes)}`],
  ];
  return el(
      'div.cards', {},
      cards.map(([big, small, raw, key,
                  why]) => el('div.card', {title: why}, el('b', {'data-key': key, 'data-value': raw}, big), el('span', {}, small))));
}

// Where the time goes, by family and by kernel.
function hotspots(plan, onSelect) {
  if (!plan.timed) return null;
  const by = {};
  for (const s of plan.steps) by[s.family] = (by[s.family] || 0) + (s.share || 0);
  const families = Object.entries(by).filter(f => f[1] > 0).sort((a, b) => b[1] - a[1]);
  const label = f => f === 'reference' ? 'reference kernel (slow)' : FAMILIES[f][0];
  const stack =
      el('div.stack', {},
         families.map(([f, share]) => el('span.f-' + f, {style: `flex-grow:${share}`, title: `${label(f)}: ${percent(share)}`})));
  const legend = el('div.legend', {}, families.map(([f, share]) => el('span', {}, el('i.f-' + f), `${label(f)} ${percent(share)}`)));
  const kernels = new Map();
  for (const s of plan.steps) {
    const k = s.kernel || s.kind, row = kernels.get(k) || kernels.set(k, {k, n: 0, ms: 0, roof: 0, known: 0}).get(k);
    row.n++, row.ms += s.ms || 0;
    if (s.roof_ms !== undefined && s.ms) row.roof += s.roof_ms, row.known += s.ms;
  }
  const rows = [...kernels.values()].sort((a, b) => b.ms - a.ms);
  const body = el('tbody');
  const more = paged(
      rows,
      r =>
          el('tr', {}, el('td.mono', {}, r.k), el('td.num', {}, r.n), el('td.num', {}, time(r.ms)),
             el('td.num', {}, percent(r.ms / plan.steps_ms)), el('td.num', {}, r.known ? percent(r.roof / r.known) : '–')),
      body, 8);
  const top = [...plan.steps].filter(s => s.ms).sort((a, b) => b.ms - a.ms).slice(0, 8);
  const slow =
      el('tbody', {},
         top.map(
             s =>
                 el('tr', {}, el('td', {}, stepLink(plan, s, onSelect)), el('td.num', {}, time(s.ms)), el('td.num', {}, percent(s.share)),
                    el('td', {}, roofBar(s)))));
  return el(
      'div', {}, stack, legend,
      el('div.columns', {}, el('div', {}, el('h3', {}, 'Slowest steps'), table(['step', '#time', '#share', 'of its roof'], slow)),
         el('div', {}, el('h3', {}, 'Kernels'), table(['kernel', '#steps', '#time', '#share', '#of roof'], body), more)));
}

// All steps, to be sorted by a click on a head.
function stepTable(plan, onSelect) {
  const columns = [
    ['#', s => s.index, s => el('td.num', {}, s.index)],
    [
      'step and its ONNX nodes', s => s.name,
      s => el('td.wide', {}, stepLink(plan, s, onSelect), s.names.length > 1 ? el('div.dim', {}, cut(s.names.join(', '), 90)) : null)
    ],
    ['operator', s => s.op, s => el('td', {}, s.op || s.kind)],
    ['kernel', s => s.kernel, s => el('td.mono', {}, s.kernel || s.kind)],
    ['result', s => plan.result(s), s => el('td.mono', {}, plan.result(s))],
    ['computes in', s => s.compute, s => el('td', {title: s.why}, s.compute || '–')],
    ['#time', s => s.ms, s => el('td.num', {'data-ms': s.ms, 'data-step': s.index}, time(s.ms))],
    ['#share', s => s.share, s => el('td.num', {'data-share': s.share}, percent(s.share))],
    ['#FLOP', s => s.flops, s => el('td.num', {'data-flops': s.flops}, count(s.flops))],
    ['#moved', s => s.bytes, s => el('td.num', {'data-bytes': s.bytes}, bytes(s.bytes))],
    ['of its roof', s => s.of_roof ?? -1, s => el('td', {'data-roof': s.of_roof}, roofBar(s))],
  ];
  const box = el('div.scroll');
  let by = plan.timed ? 6 : 0, down = plan.timed;
  function show() {
    const key = columns[by][1];
    const rows = [...plan.steps].sort((a, b) => {
      const p = key(a) ?? -1, q = key(b) ?? -1;
      return (p < q ? -1 : p > q ? 1 : 0) * (down ? -1 : 1);
    });
    const body = el('tbody');
    const more = paged(rows, s => el('tr', {}, columns.map(c => c[2](s))), body, 40);
    const grid = table(columns.map(c => c[0] === '#' ? '#no.' : c[0]), body);
    grid.className = 'steps';
    [...grid.querySelectorAll('th')].forEach((th, i) => {
      th.tabIndex = 0, th.className += ' sort' + (i === by ? down ? ' down' : ' up' : '');
      th.addEventListener('click', () => {
        down = i === by ? !down : i > 5;
        by = i;
        show();
      });
    });
    box.replaceChildren(grid, more);
  }
  show();
  return box;
}

function roofline(plan, onSelect) {
  if (!plan.roof) return null;
  const levels =
      plan.roof.memory.map(l => `${l.of} ${digits(l.gb_s)} GB/s` + (l.up_to_bytes ? ` (data up to ${bytes(l.up_to_bytes)})` : ''))
          .join(', ');
  const peaks = Object.entries(plan.roof.gflops).map(([t, g]) => `${t} ${rate(t, g)}`).join(', ');
  const none = plan.steps.filter(s => s.ms && s.of_roof === undefined).length;
  return el(
      'div', {}, rooflineChart(plan, onSelect),
      el('p.dim', {},
         `The roof is ${plan.roof.source}. Arithmetic: ${peaks || 'not known'}. Memory: ${
             levels}. A step's least time is what its FLOPs take at the peak of ` +
             'its type, or what its operands and results take to be moved once, whichever is longer. Only products count as FLOPs; they are ' +
             'those of the direct algorithm. ' +
             'Activations move at the speed of the cache that the step\'s data fits into, weights at that of all of the plan\'s data. ' +
             (none ? `${none} steps have no roof here: a shape, the operator's FLOPs or the peak of its type is not known.` : '')));
}

const FUSED_INTO = s => s.names.length > 1;
function fusions(plan, onSelect) {
  const rows = plan.steps.filter(FUSED_INTO).sort((a, b) => b.names.length - a.names.length);
  const body = el('tbody'), gone = el('tbody');
  const more = paged(
      rows,
      s =>
          el('tr', {}, el('td', {}, stepLink(plan, s, onSelect), el('div.dim', {}, `${s.op} · ${s.kernel || s.kind}`)),
             el('td.num', {}, s.names.length), el('td', {}, chips(s.names))),
      body, 12);
  for (const r of plan.removed)
    gone.append(
        el('tr', {}, el('td.mono', {}, r.by || 'unknown'), el('td.num', {}, r.nodes.length),
           el('td', {}, chips(r.nodes.map(n => plan.nodes[n])))));
  if (!plan.nodes.length) return el('p.dim', {}, 'The plan keeps no names of its model.');
  return el(
      'div', {},
      el('p', {},
         `${plan.nodes.length} nodes of the model became ${plan.steps.length} steps; ${rows.length} steps compute more than one node.`),
      rows.length ? table(['step', '#nodes', 'computes'], body) : null, more.hidden ? null : more,
      plan.removed.length ? el('h3', {}, 'Nodes without a step, by what removed them') : null,
      plan.removed.length ? table(['by', '#nodes', ''], gone) : null);
}

// By types and reason; the layers of each are its chips.
function precision(plan, onSelect) {
  const groups = new Map();
  for (const s of plan.steps) {
    if (!s.compute) continue;
    const key = [s.compute, s.sum, s.storage, s.why].join('|');
    const g = groups.get(key) || groups.set(key, {s, steps: [], share: 0}).get(key);
    g.steps.push(s), g.share += s.share || 0;
  }
  const rows = [...groups.values()].sort((a, b) => b.share - a.share || b.steps.length - a.steps.length);
  const body =
      el('tbody', {},
         rows.map(
             ({s, steps, share}) =>
                 el('tr', {'data-precision': s.compute}, el('td', {}, el('b', {}, s.compute)), el('td', {}, s.sum || '–'),
                    el('td', {}, s.storage || '–'), el('td.num', {}, steps.length), el('td.num', {}, plan.timed ? percent(share) : '–'),
                    el('td', {}, s.why || ''), el('td', {}, chips(steps.map(t => t.names.length === 1 ? t.names[0] : t.name), 4)))));
  const moved = plan.steps.filter(s => !s.compute).length;
  return el(
      'div.scroll', {}, table(['computes in', 'sums in', 'stores', '#steps', '#share', 'why', 'layers'], body),
      el('p.dim', {}, `${counted(moved, 'step')} only ${moved === 1 ? 'moves' : 'move'} elements. Whole build: ${plan.options_shown || 'the plan keeps no options'}.`));
}

// Two plans: what changed and what it costs.
function changes(onSelect) {
  const c = report.changes, [a, b] = plans;
  const rows = c.rows.filter(r => r.what.length || (r.delta_ms !== null && Math.abs(r.delta_ms) > 0));
  const body = el('tbody');
  const side = (plan, list) =>
      el('td', {},
         list.slice(0, 4).map(
             i =>
                 el('div', {}, stepLink(plan, plan.steps[i], onSelect),
                    el('div.dim', {}, `${plan.steps[i].kernel || plan.steps[i].kind} · ${plan.steps[i].compute || 'moves'}`))),
         list.length > 4 ? el('div.dim', {}, `and ${list.length - 4} more`) : null, list.length ? null : '–');
  const delta = ms => el('td.num' + (ms > 0 ? '.worse' : ms < 0 ? '.better' : ''), {'data-delta': ms}, signed(ms, time));
  const more = paged(
      rows,
      r =>
          el('tr', {}, side(a, r.a), side(b, r.b),
             el('td', {}, r.what.map(w => el('span.tag', {}, w)), r.what.length ? null : 'the same kernels'),
             el('td.num', {}, time(r.a_ms)), el('td.num', {}, time(r.b_ms)), delta(r.delta_ms)),
      body, 25);
  const same = c.rows.length - c.rows.filter(r => r.what.length).length;
  const card = (text, small, raw, key) =>
      el('div.card', {},
         el('b' +
                (raw > 0     ? '.worse' :
                     raw < 0 ? '.better' :
                               ''),
            {'data-change': key, 'data-value': raw}, text),
         el('span', {}, small));
  return el(
      'div', {},
      el('p', {}, 'From ', el('b', {}, 'A'), ` (${a.file}) to `, el('b', {}, 'B'),
         ` (${b.file}); rows are the groups of steps that compute the same nodes of the model, the largest difference first. ${same} of ${
             c.rows.length} groups are the same in both.`),
      el('div.cards', {}, card(signed(c.run_ms, time), 'a run', c.run_ms, 'run_ms'),
         card(signed(c.steps_ms, time), 'all steps', c.steps_ms, 'steps_ms'),
         card(signed(c.weight_bytes, bytes), 'weights', c.weight_bytes, 'weight_bytes'),
         card(signed(c.arena_bytes, bytes), 'arena', c.arena_bytes, 'arena_bytes')),
      el('div.scroll', {}, table(['A', 'B', 'what changed', '#time of A', '#time of B', '#cost'], body), more));
}

function facts(plan) {
  const row = (k, v) => v === '' || v === null || v === undefined ? null : el('tr', {}, el('td', {}, k), el('td.mono.wide', {}, v));
  const sizes = o => Object.entries(o).map(([k, v]) => `${k} = ${v}`).join(', ');
  const binding = b => `${b.name}: ${b.dtype}[${b.dims.join('×')}]`;
  return table(
      ['', ''],
      el('tbody', {}, row('file', plan.file), row('model', plan.model), row('its hash', plan.model_hash), row('built by', plan.builder),
         row('built for', `${plan.device} (${plan.device_kind}; needs ${plan.needs || 'nothing special'})`), row('threads', plan.threads),
         row('profile', plan.profiles > 1 ? `${plan.profile} of ${plan.profiles} (--useProfile shows another)` : ''),
         row('sizes on this page', sizes(plan.sizes)), row('largest sizes, for the arena', sizes(plan.max_sizes)),
         row('inputs', plan.inputs.map(binding).join(', ')), row('outputs', plan.outputs.map(binding).join(', ')),
         row('timed with', plan.clocks.map(c => `${c.of} at ${(c.khz / 1e6).toFixed(2)} GHz`).join(', ')), row('options', plan.options_shown)));
}
