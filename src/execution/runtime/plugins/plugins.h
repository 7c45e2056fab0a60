// Plug-ins as the library sees them: a registry with more operators, and tactics beside those of a backend.
#pragma once

#include "backends/tactic_set.h"
#include "ir/op_def.h"
#include "tenfold/plugin.h"

namespace tenfold {

struct Plugins::Impl {
  Impl();
  void add(const tenfold_plugin_operator* given, const std::string& library, std::shared_ptr<const void> keeps_library);
  ir::Registry registry;  // the built-in operators and the plug-ins'
  std::vector<backends::Tactic> on_cpu, on_gpu;
  std::vector<std::string> identity;  // lines that tell this set from others: libraries by their bytes, operators by their versions
  std::vector<std::string> libraries;  // absolute paths of those that load() opened, in their order
  bool of_this_process = false;        // holds operators that no library gave
};

namespace runtime {

// The built-in registry, or the backend's own tactics, if there are none. Both refer to the plug-ins.
const ir::Registry& registry_with(const Plugins* plugins);
backends::TacticSet tactics_with(const backends::Backend& backend, const Plugins* plugins);
// Puts what they stand for in the place of plug-ins that are graphs, in bodies, too.
void expand_plugins(ir::Graph& graph);

}  // namespace runtime
}  // namespace tenfold
