// The two charts: the arena over time, and the roofline.
'use strict';

// Steps to the right, addresses downward: a bar is a tensor from the step that writes it to the last that reads it. Bars of one color are
// one path, so that thousands cost little; what is under the pointer comes from the data.
function memoryChart(plan, onSelect) {
  const W = 1000, H = 300, steps = Math.max(1, plan.steps.length), size = Math.max(1, plan.arena_bytes);
  const x = s => s * W / steps, y = b => Math.min(b, size) * H / size;
  const at = v => Number(v.toFixed(2));
  const paths = {};
  const live = new Array(steps + 1).fill(0);
  for (const b of plan.arena) {
    const end = b.in_place ? b.last : b.last + 1;  // its last reader wrote over it
    const family = plan.steps[b.first].family, gap = Math.min(0.8, W / steps / 8),
          h = Math.max(0.6, y(b.offset + b.bytes) - y(b.offset) - 0.4);
    paths[family] =
        (paths[family] || '') + `M${at(x(b.first) + gap)} ${at(y(b.offset))}H${at(x(end) - gap)}v${at(h)}H${at(x(b.first) + gap)}z`;
    live[b.first] += b.bytes, live[end] -= b.bytes;
  }
  let work = '', sum = 0, line = '', peak = 0, peakAt = 0;
  for (const s of plan.steps)
    if (s.workspace_at !== undefined)
      work +=
          `M${at(x(s.index))} ${at(y(s.workspace_at))}H${at(x(s.index + 1))}v${at(Math.max(0.6, y(s.workspace_bytes)))}H${at(x(s.index))}z`;
  for (let s = 0; s < steps; ++s) {
    sum += live[s];
    line += `${s ? 'L' : 'M'}${at(x(s))} ${at(H - y(sum))}H${at(x(s + 1))}`;
    if (sum > peak) peak = sum, peakAt = s;
  }
  const tip = el('p.tip', {}, plan.arena.length ? 'Point at a bar.' : 'The arena is empty: results lie in bindings or grow in the run.');
  const picture = svg(
      'svg.memory', {viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'arena over time'},
      Object.entries(paths).map(([family, d]) => svg('path.f-' + family, {d})), svg('path.work', {d: work}), svg('path.live', {d: line}));
  const under = e => {
    const r = picture.getBoundingClientRect(), s = Math.floor((e.clientX - r.left) / r.width * steps),
          at = (e.clientY - r.top) / r.height * size;
    return plan.arena.find(b => b.first <= s && s <= b.last && b.offset <= at && at < b.offset + b.bytes);
  };
  picture.addEventListener('pointermove', e => {
    const b = under(e);
    tip.textContent = b ?
        `${plan.values[b.value].name || 'unnamed'} · ${plan.type(plan.values[b.value])} · ${bytes(b.bytes)} at ${b.offset} · ` +
            `written by ${plan.steps[b.first].name} (step ${b.first}), last read by ${plan.steps[b.last].name} (step ${b.last})` :
        ' ';
  });
  picture.addEventListener('click', e => {
    const b = under(e);
    if (b) onSelect(plan, plan.steps[b.first], true);
  });
  return el(
      'div.chart', {}, el('div.axis', {}, el('span', {}, '0'), el('span', {}, bytes(plan.arena_bytes))), picture,
      el('div.axis.x', {}, el('span', {}, 'step 0'), el('span', {}, `most at once: ${bytes(peak)} at step ${peakAt}`),
         el('span', {}, `step ${steps - 1}`)),
      tip);
}

// FLOP/s over FLOP per byte, both by powers of ten.
function rooflineChart(plan, onSelect) {
  const points = plan.steps.filter(s => s.flops > 0 && s.bytes > 0 && s.ms > 0);
  if (!plan.roof || !points.length) return null;
  const W = 760, H = 330, m = {l: 64, r: 16, t: 14, b: 40};
  const intensity = s => s.flops / s.bytes, speed = s => s.flops / s.ms / 1e6;  // GFLOP/s
  const peaks = Object.entries(plan.roof.gflops);
  const ends = (list, low, high) => [Math.floor(Math.log10(Math.min(...list) * low)), Math.ceil(Math.log10(Math.max(...list) * high))];
  const [x0, x1] = ends(points.map(intensity), 0.5, 2), [y0, y1] = ends([...points.map(speed), ...peaks.map(p => p[1])], 0.7, 1.2);
  const x = v => m.l + (Math.log10(v) - x0) / (x1 - x0) * (W - m.l - m.r),
        y = v => H - m.b - (Math.log10(v) - y0) / (y1 - y0) * (H - m.t - m.b);
  const power = p => p >= 0 && p < 4 ? String(10 ** p) : p < 0 && p > -4 ? String(10 ** p) : `1e${p}`;
  const grid = [];
  for (let p = x0; p <= x1; ++p)
    grid.push(
        svg('path.grid', {d: `M${x(10 ** p)} ${m.t}V${H - m.b}`}),
        svg('text.tick', {x: x(10 ** p), y: H - m.b + 16, 'text-anchor': 'middle'}, power(p)));
  for (let p = y0; p <= y1; ++p)
    grid.push(
        svg('path.grid', {d: `M${m.l} ${y(10 ** p)}H${W - m.r}`}),
        svg('text.tick', {x: m.l - 8, y: y(10 ** p) + 4, 'text-anchor': 'end'}, power(p)));
  const top = Math.max(...peaks.map(p => p[1]), 1e-9), lines = [];
  for (const level of plan.roof.memory) {
    const until = Math.min(10 ** x1, top / level.gb_s), from = Math.max(10 ** x0, 10 ** y0 / level.gb_s);
    if (from >= until) continue;
    lines.push(
        svg('path.roof', {d: `M${x(from)} ${y(from * level.gb_s)}L${x(until)} ${y(until * level.gb_s)}`}),
        svg('text.rooftext', {
          x: x(from) + 6,
          y: y(from * level.gb_s) - 10,
          transform: `rotate(${- Math.atan2(y(from * level.gb_s) - y(until * level.gb_s), x(until) - x(from)) * 180 / Math.PI} ${x(from)} ${
              y(from * level.gb_s)})`
        },
            `${level.of} ${digits(level.gb_s)} GB/s`));
  }
  let above = -99;
  for (const [type, gflops] of [...peaks].sort((p, q) => q[1] - p[1])) {
    const shift = Math.abs(y(gflops) - above) < 15 ? 130 : 0;  // labels side by side where lines are close
    above = y(gflops);
    const from = Math.max(10 ** x0, gflops / Math.max(...plan.roof.memory.map(l => l.gb_s)));
    if (from < 10 ** x1)
      lines.push(
          svg('path.roof', {d: `M${x(from)} ${y(gflops)}H${W - m.r}`}),
          svg('text.rooftext', {x: W - m.r - 4 - shift, y: y(gflops) - 5, 'text-anchor': 'end'}, `${type} ${rate(type, gflops)}`));
  }
  const dots =
      [...points]
          .sort((a, b) => b.ms - a.ms)
          .slice(0, 2000)
          .map(
              s => svg(
                  'circle.f-' + s.family,
                  {cx: x(intensity(s)), cy: y(speed(s)), r: 3 + 9 * Math.sqrt(s.share || 0), onclick: () => onSelect(plan, s, true)},
                  svg('title', {},
                      `${s.names.join(', ') || s.name}\n${rate(s.compute, speed(s))}, ${percent(s.of_roof)} of its roof\n${time(s.ms)}`)));
  return svg(
      'svg.roofline', {viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'roofline'}, grid, lines, dots,
      svg('text.tick', {x: (W + m.l) / 2, y: H - 6, 'text-anchor': 'middle'}, 'FLOP per byte moved'),
      svg('text.tick', {x: 0, y: 0, transform: `translate(14 ${(H - m.b) / 2 + m.t}) rotate(-90)`, 'text-anchor': 'middle'}, 'GFLOP/s'));
}
