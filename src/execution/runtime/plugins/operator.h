// Operators, tactics and graphs made of a plug-in's table.
#pragma once

#include "backends/tactic.h"
#include "runtime/plugins/struct.h"

namespace tenfold::runtime {

ir::OpDef plugin_operator(std::shared_ptr<const PluginTable> plugin, ir::Attributes defaults);
inline const PluginTable& plugin_of(const ir::OpDef& def) { return *static_cast<const PluginTable*>(def.self.get()); }

// One for each device that it is for; the operator keeps what they point to.
struct PluginTactic {
  std::string device;
  backends::Tactic tactic;
};
std::vector<PluginTactic> plugin_tactics(const PluginTable& plugin);
// What the plug-in says of the run that failed; empty: nothing.
std::string plugin_failure(const void* kernel);
// A context's own kernel, with the state that its run() gets; `opened` is what the tactic's open gave. Throws what the
// plug-in says.
std::shared_ptr<const void> plugin_kernel(const std::shared_ptr<const void>& opened);

// Of operators that are graphs: where they could not be expanded they have types and run all the same.
void infer_plugin_graph(ir::InferCall& call);
void run_plugin_graph(ir::Call& call);

}  // namespace tenfold::runtime
