// Ranks and nesting of a graph that is to become a plan.
#include "builder/program/limits.h"

#include "base/check.h"
#include "base/types/utf8.h"
#include "ir/nesting.h"
#include "plan/format.h"

namespace tenfold::builder {
namespace {

// Import refuses them itself; networks and graphs of plug-ins come here.
void check_name(std::string_view what, const std::string& name) {
  require(is_utf8(name), ErrorKind::invalid_model, what, " '", readable(name), "': its name is no UTF-8");
}

void check_level(const ir::Graph& graph, int depth) {
  for (const ir::Symbol& s : graph.symbols) check_name("dimension", s.name);
  for (const auto& v : graph.values()) check_name("value", v->name);
  for (const auto& n : graph.nodes()) check_name("node", n->name);
  for (const auto& v : graph.values())
    require(!v->type.ranked || static_cast<std::size_t>(v->rank()) <= plan::kMaxRank, ErrorKind::unsupported, "'", v->name, "' has ",
            v->rank(), " dimensions; plans hold tensors of ", plan::kMaxRank, " at most");
  for (const auto& n : graph.nodes()) {
    require(n->graphs.empty() || depth < ir::kMaxNested, ErrorKind::unsupported, "node '", n->name, "' (", n->op(), ") lies in ", depth,
            " bodies and has another; plans hold ", ir::kMaxNested, " inside each other at most");
    for (const auto& body : n->graphs) check_level(*body, depth + 1);
  }
}

}  // namespace

void check_limits(const ir::Graph& graph) { check_level(graph, 0); }

}  // namespace tenfold::builder
