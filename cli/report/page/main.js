// Puts the page together, and follows what is asked for in the address: #step=12, #find=conv1, #open=all, #open=none.
'use strict';
const two = plans.length > 1;
const graphs = [];
const detail = el(
    'aside.side', {},
    el('p.dim', {},
       'Click a step to see its operands, types, roof and what was tried for it; a click on a group folds or unfolds it. ' +
           'Drag to move, Ctrl and the wheel to zoom.'));

function select(plan, step, reveal) {
  if (reveal) {
    graphs[plan.index].reveal(step);
    document.getElementById('graph').scrollIntoView({block: 'start'});
  }
  detail.replaceChildren(stepDetail(plan, step, select));
  if (!two) return;
  const key = plan.index ? 'b' : 'a', row = report.changes.rows.find(r => r[key].includes(step.index));  // its other half
  const others = row ? row[plan.index ? 'a' : 'b'] : [];
  const other = plans[1 - plan.index];
  detail.append(
      el('h3', {}, `In plan ${other.letter}`),
      others.length ?
          others.map(
              i => el('div', {}, stepLink(other, other.steps[i], select), ` ${other.steps[i].kernel} · ${time(other.steps[i].ms)}`)) :
          el('p.dim', {}, 'nothing computes this'));
}

// One of a section for each plan, side by side.
function section(id, title, about, content) {
  const parts = plans.map(p => [p, content(p, select)]).filter(([, node]) => node);
  if (!parts.length) return null;
  const bodies = parts.map(([p, node]) => el('div', {}, two ? el('h3', {}, el('span.letter', {}, p.letter), p.file) : null, node));
  return el(
      'section#' + id, {}, el('h2', {}, title), about ? el('p.about', {}, about) : null, el('div' + (two ? '.pair' : ''), {}, bodies));
}

function toolbar() {
  const hits = el('ul.hits', {hidden: ''});
  const input =
      el('input#find',
         {type: 'search', placeholder: 'Find an ONNX node, tensor, kernel or operator', 'aria-label': 'find', autocomplete: 'off'});
  const counted = el('span#found.dim');
  function find() {
    const all = graphs.flatMap(g => g.search(input.value).map(s => [g.plan, s]));
    counted.textContent = input.value ? `${all.length} found` : '';
    hits.replaceChildren(...all.slice(0, 60).map(
        ([p, s]) =>
            el('li', {},
               el('button.link', {
                 onclick: () => {
                   hits.hidden = true;
                   select(p, s, true);
                 }
               },
                  p.letter ? el('span.letter', {}, p.letter) : null, cut(s.names.join(', ') || s.name, 90)))));
    hits.hidden = !all.length;
    return all;
  }
  input.addEventListener('input', find);
  input.addEventListener('keydown', e => {
    if (e.key === 'Escape') hits.hidden = true;
    if (e.key === 'Enter') hits.querySelector('button')?.click();
  });
  document.addEventListener('click', e => {
    if (!hits.contains(e.target) && e.target !== input) hits.hidden = true;
  });
  const button = (id, text, title, each) => el('button#' + id, {title, onclick: () => graphs.forEach(each)}, text);
  toolbar.find = find;
  return el(
      'div.tools', {}, el('div.search', {}, input, hits), counted, el('span.space'),
      button('fold', 'Fold all', 'only the outermost groups', g => g.foldAll()),
      button('unfold', 'Unfold all', 'every step; slow for thousands', g => g.unfoldAll()),
      button('fit', 'Whole graph', 'zoom out until all is seen', g => g.fitAll()), button('in', '+', 'zoom in', g => g.zoom(0.8)),
      button('out', '−', 'zoom out', g => g.zoom(1.25)));
}

function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.get('open')) graphs.forEach(g => asked.get('open') === 'all' ? g.unfoldAll() : g.foldAll());
  if (asked.get('find')) document.getElementById('find').value = asked.get('find'), toolbar.find();
  const step = plans[0].steps[Number(asked.get('step') ?? -1)];
  if (step) select(plans[0], step, true);
}

function build() {
  const first = plans[0];
  document.title = (two ? `${first.file} and ${plans[1].file}` : first.file) + ' – Tenfold report';
  const theme =
      el('button#theme', {
        title: 'light or dark',
        onclick: () => {
          const root = document.documentElement,
                dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
          root.dataset.theme = dark ? 'light' : 'dark';
        }
      },
         '◐');
  document.getElementById('top').append(
      el('div.title', {}, el('h1', {}, two ? 'Two plans' : cut(first.file.split('/').pop(), 70)),
         el('p.dim', {}, `${first.model || 'a network'} on ${first.device} · Tenfold ${report.tenfold}`)),
      theme);
  const main = document.getElementById('main');
  const titled = p => el('div', {}, two ? el('h3', {}, el('span.letter', {}, p.letter), p.file) : null, alerts(p), summary(p));
  main.append(el('section#summary', {}, el('div' + (two ? '.pair' : ''), {}, plans.map(titled))));
  if (two) main.append(el('section#changes', {}, el('h2', {}, 'What changed'), changes(select)));
  const panes = el('div.panes' + (two ? '.two' : ''));
  const graph = el('section#graph', {}, el('h2', {}, 'Graph'), toolbar(), el('div.workspace', {}, panes, detail));
  const sections = [
    section('time', 'Where the time goes', '', hotspots), graph, section('steps', 'Steps', 'A click on a head sorts.', stepTable),
    section('roof', 'Roofline', '', roofline),
    section(
        'memory', 'Memory over time',
        'The arena that a context has, at the largest sizes of the profile: steps to the right, addresses downward. A bar is a tensor, in ' +
            'the color of the step that wrote it; gray is workspace; the line is what lives at once, from below.',
        p => memoryChart(p, select)),
    section('fusions', 'What was fused into what', '', fusions), section('precision', 'Precision', '', precision),
    section('tuning', 'Tried and lost', 'What the build timed for each step, and why it refused the rest.', tuning),
    section('facts', 'This plan', '', facts)
  ];
  for (const s of sections)
    if (s) main.append(s);
  for (const plan of plans) {
    const g = new Graph(plan, select);
    graphs.push(g), panes.append(el('div.pane', {}, two ? el('span.letter.corner', {}, plan.letter) : null, g.box));
    g.fit();
  }
  const nav = document.getElementById('nav');
  for (const s of main.querySelectorAll('section'))
    nav.append(
        el('a', {
          href: '#' + s.id,
          onclick: e => {
            e.preventDefault();
            s.scrollIntoView();
          }
        },
           s.querySelector('h2')?.textContent || 'Summary'));
  follow();
  window.addEventListener('hashchange', follow);
  document.documentElement.dataset.ready = 'yes';
}
build();
