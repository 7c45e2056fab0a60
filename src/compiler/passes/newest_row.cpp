#include "passes/newest_row.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "passes/backward_slice.h"
#include "passes/movement.h"
#include "tenfold/error.h"

namespace tenfold::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

Value* input_of(const Graph& graph, const std::string& name) {
  for (Value* v : graph.inputs)
    if (v->name == name) return v;
  std::string names;
  for (const Value* v : graph.inputs) names += cat(names.empty() ? "" : ", ", v->name);
  throw Error(ErrorKind::invalid_argument, cat("newest_row: there is no input '", name, "'; there are ", names));
}

std::int64_t rows_of(const Value& x, const NewestRow& row) {
  require(x.type.is_tensor() && row.axis < x.rank(), ErrorKind::invalid_argument, "newest_row: input '", row.input,
          "' has no axis ", row.axis, ", its type is ", ir::text(x.type));
  const ir::Dim rows = x.dims()[static_cast<std::size_t>(row.axis)];
  require(rows.is_constant() && rows.constant() > 1, ErrorKind::invalid_argument, "newest_row: input '", row.input, "' has ", rows.text(),
          " rows along axis ", row.axis, ", a fixed number above 1 was expected (--shapes)");
  return rows.constant();
}

bool moves(const Node& n) { return n.def->traits.movement != ir::Movement::none || is_reshape(n); }

class Division {
 public:
  Division(Graph& graph, const NewestRow& row) : graph_(graph), row_(row), x_(input_of(graph, row.input)) {}

  void run() {
    const std::int64_t rows = rows_of(*x_, row_);
    const auto axis = static_cast<std::size_t>(row_.axis);
    const std::vector<Node*> nodes = graph_.node_list();
    if (nodes.empty()) refuse();
    halves_[x_] = {cut_to(graph_, x_, {axis, {0, 1, rows - 1}}, nodes.front()), cut_to(graph_, x_, {axis, {rows - 1, 1, 1}}, nodes.front()),
                   axis, rows};
    for (Node* n : nodes)
      if (reads_fp16(*n) && !slice(*n) && !recurrent(*n) && !backward_slices(*n)) join(*n);
    for (const auto& [v, halves] : halves_)
      if (v != x_ && graph_.is_output(v)) graph_.replace_uses(const_cast<Value*>(v), joined(halves, v->producer));
    graph_.sweep();
    graph_.sort();
    const std::set<const Node*> early = precomputed_nodes(graph_, row_);
    if (std::all_of(early.begin(), early.end(), [](const Node* n) { return moves(*n); })) refuse();
  }

 private:
  struct TwoParts {
    Value *past = nullptr, *newest = nullptr;
    std::size_t axis = 0;
    std::int64_t rows = 0;
  };

  [[noreturn]] void refuse() const {
    throw Error(ErrorKind::unsupported, whole_.empty() ? cat("newest_row: nothing depends on the rows of '", row_.input, "'")
                                                       : cat("newest_row: node ", whole_,
                                                             " needs all rows at once, so nothing can be computed before the "
                                                             "newest one of '",
                                                             row_.input, "' is there: build without newest_row"));
  }
  bool reads_fp16(const Node& n) const {
    return std::any_of(n.inputs.begin(), n.inputs.end(), [&](const Value* v) { return halves_.contains(v); });
  }
  const TwoParts* halves_of(const Value* v) const {
    const auto it = halves_.find(v);
    return it == halves_.end() ? nullptr : &it->second;
  }

  Value* joined(const TwoParts& h, Node* before) {
    return graph_.make("Concat", {h.past, h.newest}, {{"axis", static_cast<std::int64_t>(h.axis)}}, before);
  }
  // Rows of a divided value, in one piece.
  Value* take(const TwoParts& h, const Positions& at, Node& before) {
    if (at.last() + 1 < h.rows) return cut_to(graph_, h.past, {h.axis, at}, &before);
    if (at.count == 1) return h.newest;
    Positions past = at;
    if (--past.count == 1) past.step = 1;
    return joined({cut_to(graph_, h.past, {h.axis, past}, &before), h.newest, h.axis, h.rows}, &before);
  }
  void divide(const Value* v, Value* past, Value* newest, std::size_t axis) {
    halves_[v] = {past, newest, axis, v->dims()[axis].constant()};
  }

  bool slice(Node& n) {
    const auto part = sliced(n);
    const TwoParts* h = halves_of(n.in(0));
    if (!part || !h || part->axis != h->axis) return false;
    const Positions& at = part->at;
    if (at.last() + 1 < h->rows || at.count == 1) {
      graph_.replace_uses(n.out(), take(*h, at, n));
    } else {
      Positions past = at;
      if (--past.count == 1) past.step = 1;
      divide(n.out(), take(*h, past, n), h->newest, h->axis);
    }
    return true;
  }

  // The layer over the past rows, and one step of it from the state behind them.
  bool recurrent(Node& n) {
    if (n.op() != "LSTM" && n.op() != "GRU" && n.op() != "RNN") return false;
    const TwoParts* h = halves_of(n.in(0));
    const std::size_t axis = n.attributes.integer("layout", 0) == 0 ? 0 : 1;
    const auto others = std::count_if(n.inputs.begin() + 1, n.inputs.end(), [&](const Value* v) { return halves_.contains(v); });
    if (!h || h->axis != axis || others > 0) return false;
    const std::string direction = n.attributes.string("direction", "forward");
    require(direction == "forward", ErrorKind::unsupported, "newest_row: node '", n.name, "' (", n.op(), ") walks the rows of '",
            row_.input, "' backwards (direction ", direction, "), so all of it depends on the newest one: build without newest_row");
    require(!n.in(4), ErrorKind::unsupported, "newest_row: node '", n.name, "' (", n.op(),
            ") has sequences of different lengths, of which the newest row is not the last one: build without newest_row");
    const bool lstm = n.op() == "LSTM";
    std::vector<Value*> operands = n.inputs;
    operands.resize(std::max<std::size_t>(operands.size(), lstm ? 7 : 6));
    const auto over = [&](Value* rows) {
      operands[0] = rows;
      Node* made = graph_.add(n.op(), operands, n.attributes, lstm ? 3 : 2, n.name, &n);
      made->numerics = n.numerics;
      return made;
    };
    const Node* past = over(h->past);
    operands[5] = past->out(1);
    if (lstm) operands[6] = past->out(2);
    const Node* newest = over(h->newest);
    if (n.out(0)) divide(n.out(0), past->out(0), newest->out(0), axis);
    for (int i = 1; i < (lstm ? 3 : 2); ++i)
      if (n.out(i)) graph_.replace_uses(n.out(i), newest->out(i));
    return true;
  }

  // The half of the node's result, if it reads no more than the past rows where `past`.
  std::optional<BackwardSlice> half(const Node& n, const AxisRange& part, bool past) const {
    std::optional<BackwardSlice> backward_slice = backward_slice_of(n, part);
    if (!backward_slice) return std::nullopt;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const TwoParts* h = halves_of(n.inputs[i]);
      if (!h) continue;
      const auto& read = backward_slice->reads[i];
      if (!read || read->axis != h->axis || (past && read->at.last() + 1 >= h->rows)) return std::nullopt;
    }
    return backward_slice;
  }
  Value* made(Node& n, const BackwardSlice& backward_slice) {
    std::vector<Value*> operands = n.inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i] || !backward_slice.reads[i]) continue;
      const TwoParts* h = halves_of(operands[i]);
      operands[i] = h ? take(*h, backward_slice.reads[i]->at, n) : cut_to(graph_, operands[i], *backward_slice.reads[i], &n);
    }
    return backward_slice.make(graph_, n, std::move(operands));
  }
  bool backward_slices(Node& n) {
    if (n.outputs.size() != 1 || !n.out()->type.is_tensor()) return false;
    for (std::size_t axis = 0; axis < n.out()->dims().size(); ++axis) {
      const ir::Dim rows = n.out()->dims()[axis];
      if (!rows.is_constant() || rows.constant() < 2) continue;
      const auto past = half(n, {axis, {0, 1, rows.constant() - 1}}, true), newest = half(n, {axis, {rows.constant() - 1, 1, 1}}, false);
      if (!past || !newest) continue;
      Value* first = made(n, *past);
      divide(n.out(), first, made(n, *newest), axis);
      return true;
    }
    return false;
  }

  // All rows at once: `x` itself has them.
  void join(Node& n) {
    if (whole_.empty()) whole_ = cat("'", n.name, "' (", n.op(), ")");
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
      if (const TwoParts* h = halves_of(n.inputs[i]); h && n.inputs[i] != x_) graph_.set_input(n, static_cast<int>(i), joined(*h, &n));
  }

  Graph& graph_;
  const NewestRow& row_;
  Value* x_;
  std::map<const Value*, TwoParts> halves_;
  std::string whole_;   // the first node that needs all rows
};

}  // namespace

NewestRow parse_newest_row(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  NewestRow row;
  const char* const end = text.data() + text.size();
  const char* const from = colon == std::string::npos ? end : text.data() + colon + 1;
  const auto [at, wrong] = std::from_chars(from, end, row.axis);
  require(colon != std::string::npos && colon > 0 && wrong == std::errc() && at == end && row.axis >= 0, ErrorKind::invalid_argument,
          "newest_row is '", text, "', expected an input and the axis of its rows, such as x:1");
  row.input = text.substr(0, colon);
  return row;
}

void split_newest_row(Graph& graph, const NewestRow& row) { Division(graph, row).run(); }

Pass pass_split_newest_row(const std::string& row) {
  const auto split = [parsed = parse_newest_row(row)](Graph& graph) {
    split_newest_row(graph, parsed);
    return true;
  };
  return {.name = "split_newest_row", .run = split, .bodies = false};   // nodes of bodies are not divided
}

std::set<const Node*> precomputed_nodes(const Graph& graph, const NewestRow& row) {
  const Value* x = input_of(graph, row.input);
  const std::int64_t rows = rows_of(*x, row);
  std::set<const Node*> early;
  const auto is_past = [&](const Node& n) {
    const auto part = n.in(0) == x ? sliced(n) : std::nullopt;
    return part && part->axis == static_cast<std::size_t>(row.axis) && part->at.last() + 1 < rows;
  };
  for (const auto& n : graph.nodes()) {
    const auto given = [&](const Value* v) { return !v || v->is_constant() || (v->producer && early.contains(v->producer)); };
    const bool gives_output = std::any_of(n->outputs.begin(), n->outputs.end(), [&](const Value* v) { return v && graph.is_output(v); });
    const bool known = is_past(*n) || std::all_of(n->inputs.begin(), n->inputs.end(), given);
    if (known && n->def->pure && !gives_output && n->graphs.empty()) early.insert(n.get());
  }
  return early;
}

}  // namespace tenfold::passes
