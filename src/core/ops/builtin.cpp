// The built-in registry: every operator file below src/core/ops, through the table written by the build.
#include "ir/op_def.h"

namespace tenfold::ir {

std::vector<OpDef> builtin_ops();   // generated: op_table.cpp

const Registry& Registry::builtin() {
  static const Registry registry = [] {
    Registry r;
    for (OpDef& def : builtin_ops()) r.add(std::move(def));
    return r;
  }();
  return registry;
}

}  // namespace tenfold::ir
