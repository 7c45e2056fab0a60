#include "ir/infer_named.h"

#include "base/check.h"

namespace tenfold::ir {

void infer_named(Graph& graph, Node& node) {
  try {
    graph.infer(node);
  } catch (Error& e) {
    e.within("node '" + node.name + "' (" + node.op() + ")");
    throw;   // as what it is: a Fault stays one
  }
}

}  // namespace tenfold::ir
