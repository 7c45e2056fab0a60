// The graph as a tree of scopes, and places for what is unfolded of it. Scopes come from the names of ONNX nodes ("/encoder/layer.0/...");
// where names have none, runs of steps are folded.
'use strict';
const BOX = {
  w: 216,
  h: 68
},
      GAP = {
        x: 22,
        y: 30
      },
      PAD = 14, HEAD = 30, CHUNK = 40, MOST_CHILDREN = 60;

class Group {
  constructor(name, parent) {
    Object.assign(this, {name, parent, children: [], steps: 0, ms: 0, share: 0, open: false, first: Infinity, byName: new Map()});
  }
}

// Nodes of quantization bear names of their own and say little of where a step is.
function plainNames(step) {
  const plain = step.names.filter(n => !/QuantizeLinear|DequantizeLinear/.test(n));
  return plain.length ? plain : step.names;
}

function scopeOf(plan, step) {
  const name = plainNames(step).find(n => n.includes('/')) || step.names[0] || '';
  if (name.includes('/')) return name.split('/').filter(Boolean).slice(0, -1);
  if (/^[\w]+(\.[\w]+)+$/.test(name)) return name.split('.').slice(0, -1);
  return [];
}

// The root of a plan's tree; each step learns its group.
function makeTree(plan) {
  const root = new Group(plan.model || 'plan', null);
  const paths = [];
  for (const step of plan.steps) {
    let path = scopeOf(plan, step);
    if (!step.names.length && step.from.length) path = paths[step.from[0]];  // what Tenfold added stands by its source
    if (step.parent !== undefined) path = [...paths[step.parent], plan.steps[step.parent].name + (step.part ? ' (else)' : ' (body)')];
    paths.push(path);
    let group = root;
    for (const part of path) {
      if (!group.byName.has(part)) {
        const child = new Group(part, group);
        group.byName.set(part, child), group.children.push(child);
      }
      group = group.byName.get(part);
    }
    group.children.push(step);
    step.group = group;
  }
  tidy(root);
  sum(root);
  root.open = true;
  return root;
}

// A group of one child is that child; too many children are folded into runs.
function tidy(group) {
  for (let i = 0; i < group.children.length; ++i) {
    const child = group.children[i];
    if (!(child instanceof Group)) continue;
    tidy(child);
    if (child.children.length > 1) continue;
    const only = child.children[0];
    if (only instanceof Group) only.name = child.name + '/' + only.name, only.parent = group;
    else only.group = group;
    group.children[i] = only;
  }
  while (group.children.length > MOST_CHILDREN) {
    const runs = [];
    const size = Math.max(CHUNK, Math.ceil(group.children.length / MOST_CHILDREN));
    for (let i = 0; i < group.children.length; i += size) {
      const run = new Group('', group);
      run.children = group.children.slice(i, i + size);
      for (const c of run.children) c instanceof Group ? c.parent = run : c.group = run;
      runs.push(run);
    }
    group.children = runs;
  }
}

function sum(group) {
  for (const child of group.children) {
    if (child instanceof Group) {
      sum(child);
      group.steps += child.steps, group.ms += child.ms, group.share += child.share, group.first = Math.min(group.first, child.first);
    } else {
      ++group.steps, group.ms += child.ms || 0, group.share += child.share || 0, group.first = Math.min(group.first, child.index);
    }
  }
  if (!group.name) group.name = `steps ${group.first} to ${lastOf(group)}`;
}
const lastOf = g => {
  const c = g.children[g.children.length - 1];
  return c instanceof Group ? lastOf(c) : c.index;
};
const orderOf = item => item instanceof Group ? item.first : item.index;
const ownerOf = item => item instanceof Group ? item.parent : item.group;

// What stands for a step: itself, or the outermost group around it that is folded.
function shownFor(step) {
  let shown = step;
  for (let g = step.group; g; g = g.parent)
    if (!g.open) shown = g;
  return shown;
}

// Sizes and places of all items of an open group, inside of it. `edges`: pairs of its children, as a Map from one to a Set.
function place(group, edgesOf) {
  const items = [...group.children].sort((a, b) => orderOf(a) - orderOf(b));
  for (const item of items) {
    if (item instanceof Group && item.open) place(item, edgesOf);
    else item.w = BOX.w, item.h = BOX.h;
  }
  const edges = [...(edgesOf.get(group) || new Map())].flatMap(([a, tos]) => [...tos].map(b => orderOf(a) < orderOf(b) ? [a, b] : [b, a]));
  const rank = new Map(items.map(i => [i, 0]));
  const out = new Map(items.map(i => [i, []]));
  for (const [a, b] of edges) out.get(a).push(b);
  for (const a of items)
    for (const b of out.get(a)) rank.set(b, Math.max(rank.get(b), rank.get(a) + 1));
  const ranks = [];
  for (const i of items) (ranks[rank.get(i)] = ranks[rank.get(i)] || []).push(i);
  group.bends = new Map();
  const links = [];
  for (const [a, b] of edges) {  // long edges bend around what lies between
    let last = a;
    const bends = [];
    for (let r = rank.get(a) + 1; r < rank.get(b); ++r) {
      const bend = {w: 10, h: 0, bend: true};
      ranks[r].push(bend), bends.push(bend), links.push([last, bend]);
      last = bend;
    }
    links.push([last, b]);
    if (!group.bends.has(a)) group.bends.set(a, new Map());
    group.bends.get(a).set(b, bends);
  }
  const up = new Map(), down = new Map();
  for (const [a, b] of links) {
    (down.get(a) || down.set(a, []).get(a)).push(b);
    (up.get(b) || up.set(b, []).get(b)).push(a);
  }
  arrange(ranks, up, down);
  let y = group.parent || group.steps ? HEAD + PAD : 0, width = 0, left = Infinity;
  for (const r of ranks)
    for (const i of r) left = Math.min(left, i.x - i.w / 2);
  for (const r of ranks) {
    const height = Math.max(...r.map(i => i.h));
    for (const i of r) {
      i.x = i.x - i.w / 2 - left + PAD, i.y = y + (i.bend ? 0 : (height - i.h) / 2);
      if (i.bend) i.h = height;
      width = Math.max(width, i.x + i.w);
    }
    y += height + GAP.y;
  }
  group.w = Math.max(width + PAD, BOX.w + 2 * PAD, Math.min(group.name.length, 46) * 7.5 + 210), group.h = y - GAP.y + PAD;
}

// Orders each rank by where its neighbors are, then moves items below them as far as the others let them. x is a center here.
function arrange(ranks, up, down) {
  const spread = r => {
    let x = 0;
    for (const i of r) i.x = x + i.w / 2, x += i.w + GAP.x;
  };
  ranks.forEach(spread);
  const center = (i, near) => {
    const n = near.get(i);
    return n ? n.reduce((s, j) => s + j.x, 0) / n.length : i.x;
  };
  for (let sweep = 0; sweep < 8; ++sweep) {
    const near = sweep % 2 ? down : up;
    for (const r of sweep % 2 ? [...ranks].reverse() : ranks) {
      const at = new Map(r.map(i => [i, center(i, near)]));
      if (sweep < 6) r.sort((a, b) => at.get(a) - at.get(b));
      const forward = [], backward = [];
      r.forEach((i, k) => {
        forward[k] = k ? Math.max(at.get(i), forward[k - 1] + (r[k - 1].w + i.w) / 2 + GAP.x) : at.get(i);
      });
      for (let k = r.length - 1; k >= 0; --k)
        backward[k] = k + 1 < r.length ? Math.min(at.get(r[k]), backward[k + 1] - (r[k + 1].w + r[k].w) / 2 - GAP.x) : at.get(r[k]);
      r.forEach((i, k) => {
        i.x = (forward[k] + backward[k]) / 2;
      });
    }
  }
}

// Quotient edges for each open group: which of its children feeds which.
function quotient(plan) {
  const edgesOf = new Map();
  const ancestors = item => {
    const list = [];
    for (let i = item; i; i = ownerOf(i)) list.push(i);
    return list;
  };
  const seen = new Set();
  const pairs = [];
  for (const step of plan.steps) {
    for (const f of step.from) {
      const a = shownFor(plan.steps[f]), b = shownFor(step);
      if (a === b) continue;
      const key = orderOf(a) * 1e6 + orderOf(b) + (a instanceof Group ? 0.5 : 0) + (b instanceof Group ? 0.25 : 0);
      if (seen.has(key)) continue;
      seen.add(key);
      const above = ancestors(a), other = new Set(ancestors(b));
      const k = above.findIndex(x => other.has(x));
      const lca = above[k], inA = above[k - 1], inB = ancestors(b)[ancestors(b).indexOf(lca) - 1];
      pairs.push({a, b, lca, inA, inB});
      if (!edgesOf.has(lca)) edgesOf.set(lca, new Map());
      const map = edgesOf.get(lca);
      if (!map.has(inA)) map.set(inA, new Set());
      map.get(inA).add(inB);
    }
  }
  return {edgesOf, pairs};
}
