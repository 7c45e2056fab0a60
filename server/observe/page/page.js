// Reads ui/data every two seconds and draws it. Names and messages come from models and clients, which may be hostile: they become text
// nodes, never markup.
'use strict';
window.addEventListener('error', e => {
  document.documentElement.dataset.error = e.message;
});

const EVERY_MS = 2000;
const COLORS = 6;
const $ = id => document.getElementById(id);

// el('td.num', 'text', child): classes after the name.
function el(tag, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(' ');
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) node.append(child);
  return node;
}
const colored = (node, i) => (node.style.setProperty('--f', `var(--c${i % COLORS})`), node);

const rounded = new Intl.NumberFormat('en-US', {maximumSignificantDigits: 3});
const whole = new Intl.NumberFormat('en-US');
function scaled(x, units, step) {
  let at = 0;
  while (Math.abs(x) >= step && at + 1 < units.length) x /= step, ++at;
  return rounded.format(x) + (units[at] ? ' ' + units[at] : '');
}
const time = us => scaled(us, ['µs', 'ms', 's'], 1000);
// A quantile of a histogram: inside its first bucket, and beyond its last bound, the histogram does not say where.
const quantile = (t, q) => t[q] <= t.first ? '≤ ' + time(t.first) : t[q] >= t.last ? '≥ ' + time(t.last) : time(t[q]);
const bytes = n => scaled(n, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const count = n => n < 1e6 ? whole.format(n) : scaled(n, ['', 'K', 'M', 'G', 'T'], 1000);
const percent = x => (100 * x).toFixed(x < 0.1 ? 1 : 0) + ' %';
function age(s) {
  if (s < 90) return Math.round(s) + ' s';
  if (s < 5400) return Math.round(s / 60) + ' min';
  return s < 129600 ? Math.round(s / 3600) + ' h' : Math.round(s / 86400) + ' days';
}

const card = (value, label) => el('div.card', el('b', value), el('span', label));
const table = (heads, rows) =>
    el('table', el('thead', el('tr', heads.map(h => el(h[0] === '#' ? 'th.num' : 'th', h.replace('#', ''))))),
       el('tbody', rows.map(row => el('tr', row.map((cell, i) => el(heads[i][0] === '#' ? 'td.num' : 'td.text', cell))))));
const block = (title, ...children) => el('div', el('h3', title), children);

// Shares of a whole as one bar; what is zero stands in neither bar nor legend.
function shares(parts) {
  const all = parts.reduce((sum, [, n]) => sum + n, 0);
  if (!all) return el('div.dim', 'none yet');
  const seen = parts.map(([name, n], i) => [name, n, i]).filter(([, n]) => n);
  const bar = el('div.stack', seen.map(([name, n, i]) => {
    const part = colored(el('span'), i);
    part.style.flex = n;
    part.title = `${name}: ${count(n)}`;
    return part;
  }));
  const legend = el('div.legend', seen.map(([name, n, i]) => el('span', colored(el('i'), i), name + ' ', el('b', percent(n / all)))));
  return [bar, legend];
}

// Of this moment: what changed since the last look, a second.
function rate(now, before, field, seconds) { return before && seconds > 0 ? Math.max(0, now[field] - before[field]) / seconds : null; }

function modelSection(model, before, seconds) {
  const perSecond = rate(model, before, 'received', seconds), failing = model.received - model.succeeded;
  const head = el('div.head', el('h2', model.name), el('span.dim', 'version ' + model.version),
                  el(model.state === 'ready' ? 'span.tag.good' : 'span.tag.bad', model.state),
                  [...new Set(model.devices)].map(d => {
                    const n = model.devices.filter(x => x === d).length;
                    return el('span.tag', n > 1 ? `${d} × ${n}` : d);
                  }),
                  el('span.tag', model.precision), el('span.tag', model.max_batch ? 'batch ' + model.max_batch : 'not batched'));
  const t = model.times_us, none = !model.succeeded;
  const cards = el('div.cards', card(perSecond === null ? '–' : rounded.format(perSecond), 'requests/s'),
                   card(none ? '–' : quantile(t.request, 'p50'), 'p50'), card(none ? '–' : quantile(t.request, 'p99'), 'p99'),
                   card(count(model.waiting), model.max_waiting ? 'waiting, of ' + count(model.max_waiting) : 'waiting'),
                   card(model.executions ? rounded.format(model.inferences / model.executions) : '–', 'rows a batch'),
                   card(count(model.received), 'requests'), card(model.memory_bytes ? bytes(model.memory_bytes) : '–', 'memory'));
  const rows = [['request', 'request'], ['queue', 'queue'], ['input', 'copy of inputs'], ['infer', 'run'], ['output', 'copy of outputs']];
  const columns = el('div.columns',
    block('Time of a request that succeeded', none ? el('div.dim', 'none yet') :
          table(['part', '#p50', '#p99'], rows.map(([key, name]) => [name, quantile(t[key], 'p50'), quantile(t[key], 'p99')]))),
    block('Why batches closed', shares(Object.entries(model.closed))),
    block('How requests ended', shares([['succeeded', model.succeeded], ['cancelled', model.cancelled], ['rejected', model.rejected],
                                        ['under way', Math.max(0, failing - model.cancelled - model.rejected - model.refused - model.failed)],
                                        ['refused', model.refused], ['failed', model.failed]])));
  const extra = [];
  if (model.fallbacks.length)
    extra.push(block('Fallbacks', table(['from', 'to', 'reason', '#requests'], model.fallbacks.map(f => [f.from, f.to, f.reason, count(f.count)]))));
  if (model.errors.length)
    extra.push(block('Last errors', table(['message', '#times', '#ago'], model.errors.map(e => [e.message, count(e.count), age(e.age_s)]))));
  return el('section', head, cards, columns, extra.map(b => (b.className = 'wide', b)));
}

function serverCards(data, before, seconds) {
  const sum = (models, field) => models.reduce((all, m) => all + m[field], 0);
  const cards = [card(count(data.models.length), data.models.length === 1 ? 'model' : 'models')];
  if (before)
    cards.push(card(rounded.format(Math.max(0, sum(data.models, 'received') - sum(before.models, 'received')) / seconds), 'requests/s'));
  cards.push(card(count(sum(data.models, 'waiting')), 'waiting'));
  cards.push(card(count(sum(data.models, 'received') - sum(data.models, 'succeeded') + data.unassigned), 'did not succeed'));
  if (data.cpu) {
    cards.push(card(percent(data.cpu.utilization), 'CPU'));
    cards.push(card(bytes(data.cpu.memory_used), 'memory, of ' + bytes(data.cpu.memory_total)));
  }
  for (const gpu of data.gpus) {
    const parts = [];
    if (gpu.memory_used !== undefined) parts.push(bytes(gpu.memory_used));
    if (gpu.power_watts !== undefined) parts.push(rounded.format(gpu.power_watts) + ' W');
    if (gpu.celsius !== undefined) parts.push(gpu.celsius + ' °C');
    cards.push(card(gpu.utilization === undefined ? 'GPU' : percent(gpu.utilization), `GPU ${gpu.uuid}` + (parts.length ? ': ' + parts.join(', ') : '')));
  }
  return cards;
}

let last = null, lastAt = 0, paused = false;

function draw(data, now) {
  const seconds = (now - lastAt) / 1000;
  const before = new Map((last ? last.models : []).map(m => [m.name + '\n' + m.version, m]));
  $('about').textContent = `${data.version}, ${data.ready ? 'ready' : 'not ready'}, up for ${age(data.uptime_s)}`;
  $('cards').replaceChildren(...serverCards(data, last, seconds));
  const others = data.others.length ? [el('section', block('Versions that do not serve', table(['model', 'state', 'reason'],
      data.others.map(o => [o.version ? o.name + ', version ' + o.version : o.name, o.state.toLowerCase() || 'not loaded', o.reason]))))] : [];
  $('models').replaceChildren(...others, ...data.models.map(m => modelSection(m, before.get(m.name + '\n' + m.version), seconds)));
  last = data, lastAt = now;
}

async function refresh() {
  try {
    const response = await fetch('ui/data', {cache: 'no-store', credentials: 'same-origin'});
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
    draw(await response.json(), performance.now());
    $('lost').hidden = true;
  } catch (error) {
    $('lost').textContent = `The server cannot be reached (${error.message}). What is shown is old.`;
    $('lost').hidden = false;
  }
  if (!paused) setTimeout(refresh, EVERY_MS);
}

$('pause').addEventListener('click', () => {
  paused = !paused;
  $('pause').textContent = paused ? 'Go on' : 'Pause';
  if (!paused) refresh();
});
refresh();
