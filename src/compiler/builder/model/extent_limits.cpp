#include "builder/model/extent_limits.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/check.h"
#include "ir/infer_named.h"

namespace tenfold::builder {
namespace {

using Fixed = std::map<std::string, ir::Dim, std::less<>>;

constexpr std::int64_t kFirstTries[] = {1, 2, 3, 5, 7};
constexpr std::int64_t kAllTried = 64;     // extents for which the whole graph is looked at, where a first try failed
constexpr std::int64_t kNodeTried = 4096;  // for which the node that refused is
constexpr std::size_t kMaxFits = 8;

void substitute(ir::Value& v, const Fixed& fixed) {
  for (ir::Dim& d : v.type.tensor.dims) d = d.substitute(fixed);
  if (v.contents)
    for (ir::Dim& d : *v.contents) d = d.substitute(fixed);
}

struct Refusal {
  std::size_t node;   // its place in the graph
  std::string why;    // names it
};

// Only what the model has against the extent counts: an operator that cannot be computed is refused at any.
std::optional<Refusal> refusal(const ir::Graph& graph, const Fixed& fixed) {
  ir::Graph copy = graph.clone();
  for (ir::Value* v : copy.inputs) substitute(*v, fixed);
  std::size_t number = 0;
  for (const auto& node : copy.nodes()) {
    try {
      ir::infer_named(copy, *node);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::invalid_model) return {};
      return Refusal{number, e.what()};
    }
    ++number;
  }
  return {};
}

// Whether the node alone takes what its operands are then.
bool takes(const ir::Graph& graph, const ir::Node& node, const Fixed& fixed) {
  ir::Graph alone(graph.registry());
  alone.symbols = graph.symbols;
  ir::Node copy;
  copy.def = node.def, copy.name = node.name, copy.attributes = node.attributes, copy.numerics = node.numerics;
  for (const ir::Value* operand : node.inputs) {
    if (!operand) {
      copy.inputs.push_back(nullptr);
    } else if (operand->is_constant()) {
      copy.inputs.push_back(alone.add_constant(operand->constant, operand->name));
    } else {
      ir::Value* const v = alone.add_input(operand->name, operand->type);
      v->contents = operand->contents;
      substitute(*v, fixed);
      copy.inputs.push_back(v);
    }
  }
  try {
    alone.add(std::move(copy), static_cast<int>(node.outputs.size()));
    return true;
  } catch (const Error&) {
    return false;
  }
}

Fixed with(Fixed others, const std::string& symbol, std::int64_t extent) {
  others.insert_or_assign(symbol, ir::Dim(extent));
  return others;
}

// Extents above those that were tried one by one.
std::vector<std::int64_t> larger_fits(const ir::Graph& graph, const std::string& symbol, const Fixed& others, std::size_t refused_by) {
  const auto at = std::next(graph.nodes().begin(), static_cast<std::ptrdiff_t>(refused_by));
  const ir::Node& node = **at;
  std::vector<std::int64_t> fits;
  if (!node.graphs.empty() || node.body) return fits;
  for (std::int64_t extent = kAllTried + 1; extent <= kNodeTried && fits.size() < kMaxFits; ++extent) {
    const Fixed fixed = with(others, symbol, extent);
    if (takes(graph, node, fixed) && !refusal(graph, fixed)) fits.push_back(extent);
  }
  return fits;
}

std::optional<ExtentLimit> limit_of(const ir::Graph& graph, const ir::Value& input, const std::string& symbol, const Fixed& others) {
  std::optional<Refusal> first;
  ExtentLimit limit{.input = input.name, .dimension = symbol};
  for (const std::int64_t extent : kFirstTries)
    if (!first && (first = refusal(graph, with(others, symbol, extent)))) limit.refused = extent;
  if (!first) return {};
  for (std::int64_t extent = 1; extent <= kAllTried; ++extent)
    if (!refusal(graph, with(others, symbol, extent))) limit.fits.push_back(extent);
  if (limit.fits.size() < 2) {
    const std::vector<std::int64_t> larger = larger_fits(graph, symbol, others, first->node);
    limit.fits.insert(limit.fits.end(), larger.begin(), larger.end());
  }
  limit.why = first->why;
  return limit;
}

struct Dynamic {
  const ir::Value* input;
  std::string symbol;
};
std::vector<Dynamic> dynamic_dims(const ir::Graph& graph) {
  std::vector<Dynamic> all;
  std::set<std::string> seen;
  for (const ir::Value* input : graph.inputs)
    for (const ir::Dim& dim : input->type.is_tensor() && input->type.ranked ? input->dims() : ir::Dims())
      for (const std::string& symbol : dim.symbols())
        if (seen.insert(symbol).second) all.push_back({input, symbol});
  return all;
}

Fixed all_at(const std::vector<Dynamic>& dims, std::int64_t extent) {
  Fixed fixed;
  for (const Dynamic& d : dims) fixed.emplace(d.symbol, ir::Dim(extent));
  return fixed;
}

std::vector<ExtentLimit> limits_of(const ir::Graph& graph, const std::vector<Dynamic>& dims, const Fixed& others) {
  std::vector<ExtentLimit> limits;
  for (const Dynamic& d : dims)
    if (auto limit = limit_of(graph, *d.input, d.symbol, others)) limits.push_back(std::move(*limit));
  return limits;
}

}  // namespace

std::vector<ExtentLimit> extent_limits(const ir::Graph& graph) {
  const std::vector<Dynamic> dims = dynamic_dims(graph);
  std::vector<ExtentLimit> limits = limits_of(graph, dims, {});
  if (!limits.empty() || dims.size() < 2) return limits;
  // A number that is the product of several extents contradicts none of them alone.
  for (const std::int64_t extent : {1, 2, 3})
    if (!refusal(graph, all_at(dims, extent))) return limits;
  return limits_of(graph, dims, all_at(dims, 1));
}

}  // namespace tenfold::builder

namespace tenfold {

std::string ExtentLimit::text() const {
  const std::string where = cat("input '", input, "', dimension '", dimension, "': ");
  std::string what = cat("no extent that was tried fits");
  if (fits.size() == 1) {
    what = cat("only ", fits[0], " fits, an extent that the model's exporter wrote into it");
  } else if (!fits.empty()) {
    const std::int64_t step = fits[1] - fits[0];
    bool multiples = fits[0] == step;
    for (std::size_t i = 1; i < fits.size(); ++i) multiples &= fits[i] - fits[i - 1] == step;
    if (multiples) what = cat("multiples of ", step, " fit");
    else what = cat("not every extent fits: ", fits[0], " does");
  }
  return cat(where, what, "; ", refused, " does not: ", why);
}

}  // namespace tenfold
