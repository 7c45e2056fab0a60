// What all parts of the page share: the data, elements, numbers as people read them. Names come from a file that may be hostile: they
// become text nodes and attributes, never markup.
'use strict';
window.addEventListener('error', e => {
  document.documentElement.dataset.error = e.message;
});

const report = JSON.parse(document.getElementById('data').textContent);

// el('td.num', {title: '...'}, 'text', child): a class or an id after the name; SVG by svg().
function make(space, tag, attributes, children) {
  const [, name, id, classes] = tag.match(/^([\w]+)(?:#([\w-]+))?((?:\.[\w-]+)*)$/);
  const node = space ? document.createElementNS(space, name) : document.createElement(name);
  if (id) node.id = id;
  if (classes) node.setAttribute('class', classes.slice(1).replaceAll('.', ' '));
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) node.append(child);
  return node;
}
const el = (tag, attributes, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes, ...children) => make('http://www.w3.org/2000/svg', tag, attributes, children);

const rounded = new Intl.NumberFormat('en-US', {maximumSignificantDigits: 3});
const digits = x => rounded.format(x);
function scaled(x, units, step) {
  let at = 0;
  while (Math.abs(x) >= step && at + 1 < units.length) x /= step, ++at;
  return digits(x) + ' ' + units[at];
}
const time = ms => ms === null || ms === undefined ? '–' : Math.abs(ms) >= 1 ? digits(ms) + ' ms' : digits(ms * 1e3) + ' µs';
const bytes = n => n === null || n === undefined ? '–' : scaled(n, ['B', 'KiB', 'MiB', 'GiB'], 1024);
const count = n => n === null || n === undefined ? '–' : scaled(n, ['', 'K', 'M', 'G', 'T'], 1000);
const percent = x => x === null || x === undefined ? '–' : (100 * x).toFixed(Math.abs(x) < 0.1 ? 1 : 0) + ' %';
const signed = (x, text) => x === null || x === undefined ? '–' : (x > 0 ? '+' : x < 0 ? '−' : '±') + text(Math.abs(x));

// Operations of a type: those of integers are none of floating point.
const rate = (type, giga) => digits(giga) + (/^[iu]\d/.test(type || '') ? ' GOP/s' : ' GFLOP/s');
const counted = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
const OF_ROOF = 'The least time that arithmetic or memory allow the step on this machine, as a share of the time it takes: 100 % is the best.';

// A family gives a step its color.
const FAMILIES = {
  gemm: ['GEMM, attention, RNN', /MatMul|Gemm|Einsum|Product|Attention|LSTM|GRU|RNN|Recurrent/],
  conv: ['convolution', /Conv|ExpandDepthwise/],
  norm: ['norm, softmax, reduction, pooling', /Norm|Softmax|Reduce|Pool|Mean|ArgM|TopK|Sum$/],
  move: [
    'copy, layout, gather', /Transpose|Reshape|Concat|Slice|Gather|Scatter|Split|Pad|Expand|Reformat|Resize|Tile|Copy|Flatten|Squeeze|^$/
  ],
  point: ['pointwise', /./],
};
function familyOf(step) {
  if (step.kind === 'reference') return 'reference';
  if (step.kind === 'copy') return 'move';
  for (const [key, [, pattern]] of Object.entries(FAMILIES))
    if (pattern.test(step.op)) return key;
  return 'move';
}

// A plan with what is looked up again and again.
class Plan {
  constructor(json, index) {
    Object.assign(this, json);
    this.index = index;
    this.letter = report.plans.length > 1 ? 'AB'[index] : '';
    this.steps.forEach((step, i) => {
      step.index = i;
      step.family = familyOf(step);
      step.names = step.nodes.map(n => this.nodes[n]);
    });
    this.timed = this.steps_ms !== null;
    this.maxShare = Math.max(1e-9, ...this.steps.map(s => s.share || 0).slice(0, 1e5));
  }
  value(i) { return this.values[i]; }
  dims(v) { return v.shape ? v.dims + ' = ' + v.shape.join('×') : v.dims.replaceAll(',', '×'); }
  type(v) { return v.dtype + '[' + (v.shape ? v.shape.join('×') : v.dims.replaceAll(',', '×')) + ']'; }
  result(step) { return step.outputs.length ? this.type(this.values[step.outputs[0]]) : ''; }
  // All that a search looks into, made once.
  text(step) {
    if (step.text === undefined) {
      const tensors = [...step.inputs, ...step.outputs].flatMap(v => [this.values[v].name, ...(this.values[v].tensors || [])]);
      step.text = [step.name, step.op, step.kernel, ...step.names, ...tensors].join('\n').toLowerCase();
    }
    return step.text;
  }
}
const plans = report.plans.map((p, i) => new Plan(p, i));

// Rows that come in portions: `rows` may be thousands.
function paged(rows, render, body, portion = 50) {
  let shown = 0;
  const more = el('button.more', {onclick: () => grow(portion * 4)});
  function grow(n) {
    const until = Math.min(rows.length, shown + n);
    for (; shown < until; ++shown) body.append(render(rows[shown]));
    more.textContent = `Show more (${rows.length - shown} left)`;
    more.hidden = shown >= rows.length;
  }
  grow(portion);
  return more;
}
const table = (heads, body) =>
    el('table', {}, el('thead', {}, el('tr', {}, heads.map(h => el(/^[#]/.test(h) ? 'th.num' : 'th', {title: /of (its )?roof$/.test(h) ? OF_ROOF : undefined}, h.replace(/^#/, ''))))), body);

// Names of nodes as chips; the longer lists are cut until asked.
function chips(names, shown = 8) {
  const box = el('span.chips', {}, names.slice(0, shown).map(n => el('span.chip', {title: n}, n)));
  if (names.length > shown)
    box.append(
        el('button.link', {
          onclick: e => {
            e.target.remove();
            names.slice(shown).forEach(n => box.append(el('span.chip', {title: n}, n)));
          }
        },
           `and ${names.length - shown} more`));
  return box;
}
