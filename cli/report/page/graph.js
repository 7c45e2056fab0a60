// The graph as SVG: pan by dragging, zoom by the wheel, a click shows a step or folds a group, a search finds and unfolds.
'use strict';
const cut = (text, n) => text.length > n ? text.slice(0, n / 2 - 1) + '…' + text.slice(text.length - n / 2) : text;

class Graph {
  constructor(plan, onSelect) {
    Object.assign(this, {plan, onSelect, root: makeTree(plan), found: new Set(), selected: null});
    this.svg = svg('svg.graph', {role: 'img', 'aria-label': 'graph of steps'});
    this.box = el('div.canvas', {}, this.svg);
    this.openUpTo(40);
    this.draw();
    this.fit();
    this.listen();
  }
  // Unfolds level by level, as long as that shows no more boxes than `most`.
  openUpTo(most) {
    for (let level = [this.root]; level.length;) {
      for (const g of level) g.open = true;
      level = level.flatMap(g => g.children.filter(c => c instanceof Group));
      most -= level.reduce((n, g) => n + g.children.length - 1, 0);
      if (this.root.children.length > most) break;
    }
  }
  setAll(open, group = this.root) {
    for (const c of group.children)
      if (c instanceof Group) c.open = open, this.setAll(open, c);
  }
  foldAll() {
    this.setAll(false);
    this.redraw();
  }
  unfoldAll() {
    this.setAll(true);
    this.redraw();
  }
  redraw() {
    this.draw();
    this.fit();
  }
  toggle(group) {
    const before = this.anchor(group);
    group.open = !group.open;
    this.draw();
    const after = this.anchor(group);
    this.view.x += after.x - before.x, this.view.y += after.y - before.y;  // it stays below the pointer
    this.applyView();
  }
  anchor(item) {
    let x = 0, y = 0;
    for (let i = item; i && i !== this.root; i = ownerOf(i)) x += i.x, y += i.y;
    return {x, y};
  }
  reveal(step) {
    for (let g = step.group; g; g = g.parent) g.open = true;
    this.selected = step;
    this.draw();
    const {x, y} = this.anchor(step), w = Math.max(700, Math.min(this.view.w, 1400)), h = w * this.ratio();
    this.view = {x: x + step.w / 2 - w / 2, y: y + step.h / 2 - h / 2, w, h};
    this.applyView();
  }
  search(text) {
    const words = text.trim().toLowerCase();
    const hits = words ? this.plan.steps.filter(s => this.plan.text(s).includes(words)) : [];
    this.found = new Set(hits);
    this.draw();
    return hits;
  }

  draw() {
    const {edgesOf, pairs} = quotient(this.plan);
    place(this.root, edgesOf);
    const boxes = svg('g'), lines = svg('g.edges');
    this.drawGroup(this.root, 0, 0, boxes);
    for (const pair of pairs) lines.append(this.edge(pair));
    const id = 'arrow' + this.plan.index;
    const arrow =
        svg('marker', {id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'},
            svg('path', {d: 'M0 0L8 4L0 8z'}));
    lines.setAttribute('marker', id);
    for (const l of lines.children) l.setAttribute('marker-end', `url(#${id})`);
    const frames = svg('g');
    for (const f of [...boxes.querySelectorAll('.frame')]) frames.append(f);
    this.svg.replaceChildren(svg('defs', {}, arrow), frames, lines, boxes);
  }
  drawGroup(group, x, y, into) {
    if (group !== this.root) {
      const head =
          svg('g.frame', {transform: `translate(${x},${y})`, 'data-group': group.name},
              svg('rect.around', {width: group.w, height: group.h, rx: 10}), svg('text.fold', {x: 12, y: 20}, '▾ ' + cut(group.name, 46)),
              svg('text.right', {x: group.w - 12, y: 20}, this.groupText(group)),
              svg('rect.hit', {width: group.w, height: HEAD, rx: 10, onclick: () => this.toggle(group)},
                  svg('title', {}, 'fold ' + group.name)));
      into.append(head);
    }
    for (const item of group.children) {
      if (item instanceof Group && item.open) this.drawGroup(item, x + item.x, y + item.y, into);
      else into.append(item instanceof Group ? this.folded(item, x + item.x, y + item.y) : this.step(item, x + item.x, y + item.y));
    }
  }
  groupText(group) { return counted(group.steps, 'step') + (this.plan.timed ? ` · ${time(group.ms)} · ${percent(group.share)}` : ''); }
  bar(share) {
    return this.plan.timed ?
        svg('rect.bar', {x: 6, y: BOX.h - 5, width: Math.max(0, Math.min(1, share)) * (BOX.w - 12), height: 3, rx: 1.5}) :
        null;
  }
  folded(group, x, y) {
    let hits = 0;
    if (this.found.size)
      for (const s of this.found)
        if (shownFor(s) === group) ++hits;
    return svg(
        'g.box.group' + (hits ? '.hit-found' : ''),
        {transform: `translate(${x},${y})`, 'data-group': group.name, tabindex: 0, onclick: () => this.toggle(group)},
        svg('rect.body', {x: 4, y: 4, width: BOX.w, height: BOX.h, rx: 8}), svg('rect.body', {width: BOX.w, height: BOX.h, rx: 8}),
        svg('text.name', {x: 12, y: 21}, '▸ ' + cut(group.name, 28)),
        svg('text.sub', {x: 12, y: 39}, this.groupText(group) + (hits ? ` · ${hits} found` : '')), this.bar(group.share),
        svg('title', {}, `unfold ${group.name}: ${this.groupText(group)}`));
  }
  step(step, x, y) {
    const name = step.names.length ? plainNames(step).map(n => n.split('/').pop()).join(' + ') : step.name;
    const marks = (this.found.has(step) ? '.hit-found' : '') + (this.selected === step ? '.selected' : '');
    return svg(
        'g.box.step.f-' + step.family + marks,
        {transform: `translate(${x},${y})`, 'data-step': step.index, tabindex: 0, onclick: () => this.select(step)},
        svg('rect.body', {width: BOX.w, height: BOX.h, rx: 7}), svg('rect.strip', {width: 5, height: BOX.h, rx: 2}),
        svg('text.name', {x: 13, y: 21}, cut(name, this.plan.timed ? 18 : 26)),
        svg('text.right', {x: BOX.w - 10, y: 21}, this.plan.timed ? time(step.ms) : ''),
        svg('text.sub', {x: 13, y: 38}, cut(step.kernel || step.kind, 31)), svg('text.sub', {x: 13, y: 54}, cut(this.plan.result(step), 31)),
        this.bar(step.share || 0),
        svg('title', {}, [step.names.join(', ') || step.name, step.kernel, this.plan.result(step), time(step.ms)].join('\n')));
  }
  select(step) {
    this.selected = step;
    for (const s of this.svg.querySelectorAll('.selected')) s.classList.remove('selected');
    this.svg.querySelector(`[data-step="${step.index}"]`)?.classList.add('selected');
    for (const l of this.svg.querySelectorAll('.edges path'))
      l.classList.toggle('lit', l.dataset.a === String(step.index) || l.dataset.b === String(step.index));
    this.onSelect(this.plan, step);
  }
  edge({a, b, lca, inA, inB}) {
    const from = this.anchor(a), to = this.anchor(b);
    const points = [[from.x + a.w / 2, from.y + a.h]];
    const {x, y} = this.anchor(lca);
    for (const bend of lca.bends?.get(inA)?.get(inB) || []) {
      points.push([x + bend.x + bend.w / 2, y + bend.y], [x + bend.x + bend.w / 2, y + bend.y + bend.h]);
    }
    points.push([to.x + b.w / 2, to.y - 1]);
    let d = `M${points[0]}`;
    for (let i = 1; i < points.length; ++i) {
      const [x0, y0] = points[i - 1], [x1, y1] = points[i], dy = Math.max(10, Math.abs(y1 - y0) / 2);
      d += x0 === x1 ? `L${x1} ${y1}` : `C${x0} ${y0 + dy} ${x1} ${y1 - dy} ${x1} ${y1}`;
    }
    return svg('path', {d, 'data-a': a.index, 'data-b': b.index});
  }

  ratio() { return (this.box.clientHeight || 640) / (this.box.clientWidth || 900); }
  fit() {
    const w = Math.max(this.root.w, 760) + 20, ratio = this.ratio();
    this.view = {x: -10 - (w - 20 - this.root.w) / 2, y: HEAD - 4, w, h: w * ratio};
    this.applyView();
  }
  fitAll() {
    const w = Math.max(this.root.w + 40, (this.root.h + 40) / this.ratio());
    this.view = {x: (this.root.w - w) / 2, y: HEAD - 10, w, h: w * this.ratio()};
    this.applyView();
  }
  zoom(by, cx = 0.5, cy = 0.5) {
    const v = this.view, w = Math.max(200, Math.min(v.w * by, 60000)), h = w * this.ratio();
    this.view = {x: v.x + (v.w - w) * cx, y: v.y + (v.h - h) * cy, w, h};
    this.applyView();
  }
  applyView() {
    const v = this.view;
    this.svg.setAttribute('viewBox', `${v.x} ${v.y} ${v.w} ${v.h}`);
  }
  listen() {
    this.box.addEventListener('wheel', e => {
      e.preventDefault();
      const r = this.box.getBoundingClientRect();
      if (e.ctrlKey || e.metaKey)
        return this.zoom(Math.exp(e.deltaY / 300), (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height);
      this.view.x += e.deltaX * this.view.w / r.width, this.view.y += e.deltaY * this.view.w / r.width;
      this.applyView();
    }, {passive: false});
    let drag = null;
    this.box.addEventListener('pointerdown', e => {
      drag = {x: e.clientX, y: e.clientY, view: {...this.view}};
    });
    window.addEventListener('pointermove', e => {
      if (!drag) return;
      const by = this.view.w / this.box.clientWidth;
      this.view.x = drag.view.x - (e.clientX - drag.x) * by, this.view.y = drag.view.y - (e.clientY - drag.y) * by;
      this.applyView();
    });
    window.addEventListener('pointerup', () => {
      drag = null;
    });
    this.svg.addEventListener('keydown', e => {
      if (e.key === 'Enter') e.target.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    });
    new ResizeObserver(() => {
      this.view.h = this.view.w * this.ratio();
      this.applyView();
    }).observe(this.box);
    window.addEventListener('beforeprint', () => this.fitAll());
  }
}
