// Settling: from what a graph noted while a pass ran to who stands for what.
#include "ir/lineage.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

using Dead = Journal::Dead;
using Id = std::uint32_t;

// The values and nodes that a pass left behind, and what stands where they stood.
class Ruins {
 public:
  explicit Ruins(const Graph& graph) : journal_(graph.journal()) {
    for (const auto& v : graph.values()) alive_[v->id] = v.get();
    for (const Dead& d : journal_.dead) {
      for (const Id v : d.out) maker_[v] = &d;
      for (const Id v : d.in) readers_[v].push_back(&d);
    }
    for (const auto& [old, now] : journal_.replaced) before_[now].push_back(old), after_[old] = now;
  }
  const Value* alive(Id value) const { return at(alive_, value); }
  const std::vector<const Dead*>& readers(Id value) const {
    static const std::vector<const Dead*> none;
    const auto it = readers_.find(value);
    return it == readers_.end() ? none : it->second;
  }
  // Was it there before the pass, or does it stand where such a one stood?
  bool known(Id value) const {
    std::vector<Id> all{value};
    for (std::size_t i = 0; i < all.size() && i <= journal_.replaced.size(); ++i) {
      if (all[i] <= journal_.values) return true;
      if (const auto old = before_.find(all[i]); old != before_.end()) all.insert(all.end(), old->second.begin(), old->second.end());
    }
    return false;
  }
  // What stands in its place now; null: nothing does.
  const Value* successor(Id value) const {
    auto it = after_.find(value);
    for (std::size_t i = 0; it != after_.end() && i <= after_.size(); it = after_.find(it->second), ++i)
      if (const Value* v = alive(it->second); v && (v->producer || v->is_constant() || !after_.count(it->second))) return v;
    return nullptr;
  }
  // The dead behind these values, up to what is alive; `ends` gets the living ones met there. Of values looked at `max`, about.
  std::vector<const Dead*> behind(std::vector<Id> values, std::unordered_set<Id>* ends = nullptr, std::size_t max = SIZE_MAX) const {
    std::vector<const Dead*> found;
    std::unordered_set<Id> seen;
    std::unordered_set<const Dead*> met;
    while (!values.empty() && seen.size() < max) {
      const Id v = values.back();
      values.pop_back();
      if (!seen.insert(v).second) continue;
      if (const auto old = before_.find(v); old != before_.end()) values.insert(values.end(), old->second.begin(), old->second.end());
      const Dead* d = at(maker_, v);
      if (!d || !met.insert(d).second) continue;
      found.push_back(d);
      for (const Id in : std::span(d->in).first(std::min(d->in.size(), max))) {
        if (!lives(in)) values.push_back(in);
        else if (ends) ends->insert(in);
      }
    }
    return found;
  }
  bool lives(Id value) const {
    const Value* v = alive(value);
    return v && !maker_.count(value);
  }

 private:
  template <class Map>
  static auto at(const Map& map, Id id) -> typename Map::mapped_type {
    const auto it = map.find(id);
    return it == map.end() ? nullptr : it->second;
  }
  const Journal& journal_;
  std::unordered_map<Id, const Value*> alive_;
  std::unordered_map<Id, const Dead*> maker_;
  std::unordered_map<Id, std::vector<const Dead*>> readers_;
  std::unordered_map<Id, std::vector<Id>> before_;   // what a value stands in the place of
  std::unordered_map<Id, Id> after_;
};

bool moves(const OpDef* def) { return def->traits.movement != Movement::none; }

// Of several dead nodes that one node stands for: what belongs to itself, and what was fused behind it.
Sources sources_of(const Node& node, const std::vector<const Dead*>& dead, const Ruins& ruins) {
  std::vector<Id> in_front;   // of those with the same operator
  const Dead* last = nullptr;
  bool same = false;
  for (const Dead* d : dead) {
    if (d->def == node.def && !d->sources.empty()) same = true, in_front.insert(in_front.end(), d->in.begin(), d->in.end());
    if (!last || d->id > last->id) last = d;
  }
  const std::vector<const Dead*> before = ruins.behind(in_front);
  const std::unordered_set<const Dead*> front(before.begin(), before.end());
  Sources sources;
  for (const Dead* d : dead) {
    if (d->def == node.def) join(sources.own, d->sources.own), join(sources.behind, d->sources.behind);
    else if (same ? front.count(d) > 0 : d != last || dead.size() == 1) join(sources.own, d->sources.all());
    else join(sources.behind, d->sources.all());
  }
  return sources;
}

// New nodes with nothing known between them, and the dead in whose place they stand.
struct Cluster {
  std::vector<Node*> nodes = {};                       // in the graph's order
  std::vector<std::pair<const Dead*, Node*>> dead = {};   // with the node that makes what they led to

  void assign_names(const Ruins& ruins, const std::unordered_set<std::int32_t>& held);

 private:
  Node* heir(const Dead& dead, Node* end) const;
  std::unordered_set<const Node*> among_ = {};
};

// Back over what only moves elements, unless that is what died.
Node* Cluster::heir(const Dead& dead, Node* end) const {
  while (!moves(dead.def) && moves(end->def)) {
    Node* next = nullptr;
    for (const Value* v : end->inputs)
      if (v && v->producer && among_.count(v->producer)) next = v->producer;
    if (!next) break;
    end = next;
  }
  return end;
}

void Cluster::assign_names(const Ruins& ruins, const std::unordered_set<std::int32_t>& held) {
  among_.insert(nodes.begin(), nodes.end());
  const auto is_held = [&](std::int32_t source) { return held.count(source) > 0; };
  std::erase_if(dead, [&](const auto& d) {
    const NameList all = d.first->sources.all();
    return std::all_of(all.begin(), all.end(), is_held);
  });
  std::sort(dead.begin(), dead.end(), [](const auto& a, const auto& b) { return a.first->id < b.first->id; });
  std::unordered_map<const Node*, std::vector<const Dead*>> stands_for;
  std::unordered_set<const Dead*> given;
  std::map<const OpDef*, std::vector<const Dead*>> like;
  for (const auto& [d, end] : dead) like[d->def].push_back(d);
  const auto give = [&](Node* n, bool in_place) {   // in place: made right in front of its like
    if (!n->sources.empty() || !stands_for[n].empty()) return;
    for (const Dead* d : like[n->def])
      if ((!in_place || n->made_before == d->id) && given.insert(d).second) return stands_for[n].push_back(d);
  };
  for (const bool in_place : {true, false})
    for (Node* n : nodes)
      if (nodes.size() > 1) give(n, in_place);
  for (const auto& [d, end] : dead)
    if (!given.count(d)) stands_for[heir(*d, end)].push_back(d);
  for (Node* n : nodes) {
    if (std::vector<const Dead*>& list = stands_for[n]; !list.empty()) {
      const Sources more = sources_of(*n, list, ruins);
      join(n->sources.own, more.own), join(n->sources.behind, more.behind);
    }
    if (!n->sources.empty()) continue;
    for (const auto& [place, end] : dead)   // one node that became several; one that another stands for already is not among them
      if (place->id == n->made_before && (!moves(n->def) || moves(place->def))) n->sources.own = place->sources.all();
  }
}

void add_held(const Graph& graph, std::unordered_set<std::int32_t>& held) {
  for (const auto& n : graph.nodes()) {
    for (const auto* list : {&n->sources.own, &n->sources.behind}) held.insert(list->begin(), list->end());
    for (const auto& body : n->graphs) add_held(*body, held);
  }
}

std::vector<Cluster> clusters_of(const Graph& graph, const Ruins& ruins) {
  std::unordered_map<const Node*, std::size_t> number;
  std::vector<Node*> fresh;
  for (const auto& n : graph.nodes())
    if (n->id > graph.journal().nodes) number[n.get()] = fresh.size(), fresh.push_back(n.get());
  std::vector<std::size_t> root(fresh.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (std::size_t i = 0; i < fresh.size(); ++i)
    for (const Value* v : fresh[i]->inputs)
      if (v && v->producer && !ruins.known(v->id))
        if (const auto it = number.find(v->producer); it != number.end()) root[find(i)] = find(it->second);
  std::map<std::size_t, Cluster> clusters;
  for (std::size_t i = 0; i < fresh.size(); ++i) clusters[find(i)].nodes.push_back(fresh[i]);
  std::vector<Cluster> list;
  for (auto& [at, cluster] : clusters) {
    std::unordered_set<const Dead*> seen;
    for (Node* n : cluster.nodes)
      for (const Value* v : n->outputs)
        for (const Dead* d : ruins.behind({v->id}))
          if (seen.insert(d).second && !d->sources.empty()) cluster.dead.emplace_back(d, n);
    list.push_back(std::move(cluster));
  }
  return list;
}

// What became of a dead node that nothing new stands for.
class Fates {
 public:
  enum class Fate { unused, removed, handed_on };
  Fates(const Ruins& ruins) : ruins_(ruins) {}

  Fate of(const Dead& d) {
    const auto [it, fresh] = known_.try_emplace(&d, Fate::unused);
    if (!fresh) return it->second;
    Fate fate = Fate::unused;
    for (const Id out : d.out) {
      const Value* now = ruins_.successor(out);
      const bool twin = now && now->producer && now->producer->def == d.def && !leads_to(d, now->id);
      if (now) fate = std::max(fate, twin ? hand_on(d, *now->producer) : Fate::removed);
      for (const Dead* reader : ruins_.readers(out))
        if (reader != &d && !now) fate = std::max(fate, std::min(of(*reader), Fate::removed));
    }
    return known_[&d] = fate;
  }

 private:
  // Is `value` among what it was computed from, near by? Then it changed nothing.
  bool leads_to(const Dead& d, Id value) const {
    constexpr std::size_t kNear = 64;
    std::unordered_set<Id> ends;
    const std::span in_front = std::span(d.in).first(std::min(d.in.size(), kNear));
    ruins_.behind({in_front.begin(), in_front.end()}, &ends, kNear);
    ends.insert(in_front.begin(), in_front.end());
    std::vector<Id> near(ends.begin(), ends.end());
    for (std::size_t i = 0; i < near.size() && i < kNear; ++i) {
      if (near[i] == value) return true;
      const Value* v = ruins_.alive(near[i]);
      for (const Value* in : v && v->producer ? v->producer->inputs : std::vector<Value*>{})
        if (in) near.push_back(in->id);
    }
    return false;
  }
  Fate hand_on(const Dead& d, const Node& twin) {
    Sources& sources = const_cast<Node&>(twin).sources;   // the graph is the caller's to change
    join(sources.own, d.sources.own), join(sources.behind, d.sources.behind);
    return Fate::handed_on;
  }
  const Ruins& ruins_;
  std::unordered_map<const Dead*, Fate> known_;
};

void bury_the_rest(Graph& graph, const Ruins& ruins, std::string_view by) {
  std::unordered_set<std::int32_t> held;
  add_held(graph, held);
  for (const Removed& r : graph.removed) held.insert(r.node);
  Fates fates(ruins);
  for (const Dead& d : graph.journal().dead) {
    const NameList all = d.sources.all();
    if (std::all_of(all.begin(), all.end(), [&](std::int32_t s) { return held.count(s) > 0; })) continue;
    const Fates::Fate fate = fates.of(d);
    for (const std::int32_t s : all)
      if (held.insert(s).second && fate != Fates::Fate::handed_on)
        graph.removed.push_back({s, std::string(fate == Fates::Fate::unused ? "unused" : by)});
  }
}

}  // namespace

void finalize_names(Graph& graph, std::string_view by) {
  if (!graph.model_names) return;
  if (!graph.journal().dead.empty()) {
    const Ruins ruins(graph);
    std::unordered_set<std::int32_t> held;
    add_held(graph, held);
    for (Cluster& cluster : clusters_of(graph, ruins)) cluster.assign_names(ruins, held);
    bury_the_rest(graph, ruins, by);
  }
  graph.clear_journal();
}

}  // namespace tenfold::ir
