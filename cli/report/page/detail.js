// One step by itself: what was tried for it, and all that is known of it beside the graph.
'use strict';
function candidates(plan, index) {
  const t = plan.tuning[index], best = Math.max(1e-9, ...t.tried.map(c => c.nanoseconds || 0));
  const timed = t.tried.filter(c => c.nanoseconds !== null).sort((a, b) => a.nanoseconds - b.nanoseconds),
        rest = t.tried.filter(c => c.nanoseconds === null);
  const row = c =>
      el('tr' + (c.chosen ? '.chosen' : ''), {}, el('td.mono', {}, (c.chosen ? '★ ' : '') + c.tactic + (c.config ? ` [${c.config}]` : '')),
         el('td.num', {'data-ns': c.nanoseconds}, c.nanoseconds === null ? '–' : time(c.nanoseconds / 1e6)),
         el('td', {},
            c.nanoseconds === null ? c.verdict : el('span.meter', {}, el('span.fill', {style: `width:${100 * c.nanoseconds / best}%`}))));
  return el(
      'div', {}, el('p.mono.dim', {}, `for ${t.node}: ${t.problem}`),
      table(['candidate', '#time', 'or why not'], el('tbody', {}, [...timed, ...rest].map(row))));
}

// What was tried, for each step; rows are made when one is opened.
function tuning(plan) {
  const steps = plan.steps.filter(s => s.tried).sort((a, b) => (b.ms || 0) - (a.ms || 0));
  if (!steps.length) return null;
  const box = el('div');
  const more = paged(steps, s => {
    const all = s.tried.flatMap(t => plan.tuning[t].tried), timed = all.filter(c => c.nanoseconds !== null);
    const details =
        el('details', {'data-step': s.index},
           el('summary', {}, el('span.mono', {}, cut(s.names.length === 1 ? s.names[0] : s.name, 70)), ' ',
              el('span.dim', {},
                 `${s.kernel || s.kind} won over ${Math.max(0, timed.length - 1)} timed, ${all.length - timed.length} refused · ${
                     time(s.ms)}`)));
    details.addEventListener('toggle', () => {
      if (details.childElementCount === 1) details.append(...s.tried.map(t => candidates(plan, t)));
    });
    return details;
  }, box, 15);
  return el('div', {}, box, more);
}

// All about one step, beside the graph.
function stepDetail(plan, s, onSelect) {
  const line = (key, ...value) =>
      value[0] === undefined || value[0] === '' ? null : el('div.line', {}, el('dt', {}, key), el('dd', {}, value));
  const operand = i => {
    const v = plan.value(i);
    return el(
        'li', {}, el('span.mono', {}, plan.type(v)), v.layout ? ` @${v.layout}` : '', v.packed ? ' packed' : '', ' ',
        el('span.dim', {}, `${v.name || ''} · ${v.place}`));
  };
  const neighbors = (list, title) =>
      list.length ? line(title, list.slice(0, 12).map(t => el('div', {}, stepLink(plan, t, onSelect)))) : null;
  s.to ??= plan.steps.filter(t => t.from.includes(s.index));
  return el(
      'div.detail', {'data-detail': s.index},
      el('h3', {}, plan.letter ? el('span.letter', {}, plan.letter) : null, s.names.length === 1 ? s.names[0] : s.name),
      el('dl', {}, line('computes', s.names.length ? chips(s.names, 12) : 'nothing of the model: Tenfold added it'),
         line('operator', s.op || s.kind),
         line('kernel', el('span.mono', {}, s.kernel ? s.kernel + (s.config ? ` [${s.config}]` : '') : s.kind)),
         line('time', plan.timed ? `${time(s.ms)} (${percent(s.share)})` : undefined),
         line('work', `${count(s.flops)}FLOP, ${bytes(s.bytes)} moved`),
         line(
             'roof',
             s.roof_ms === undefined ?
                 undefined :
                 `${time(s.roof_ms)} at least, by ${s.bound_by}` + (s.of_roof ? `: ${percent(s.of_roof)} reached` : '')),
         line('types', s.compute ? `computes in ${s.compute}` + (s.sum ? `, sums in ${s.sum}` : '') + `, stores ${s.storage}` : undefined),
         line('why', s.why), line('workspace', s.workspace_bytes ? bytes(s.workspace_bytes) : undefined),
         line('reads', el('ul', {}, s.inputs.map(operand))), line('writes', el('ul', {}, s.outputs.map(operand))),
         neighbors(s.from.map(f => plan.steps[f]), 'after'), neighbors(s.to, 'before'), line('attributes', s.attributes),
         line('numerics', s.numerics), line('body', s.body)),
      s.tried ? el('details', {open: ''}, el('summary', {}, 'Tried for this step'), s.tried.map(t => candidates(plan, t))) : null);
}
