// Plug-ins as the library sees them: a registry with more operators, a backend with more tactics.
#pragma once

#include "backends/backend.h"
#include "ir/op_def.h"
#include "tenfold/plugin.h"

namespace tenfold {

struct Plugins::Impl {
  Impl();
  ir::Registry registry;                       // the built-in operators and the plug-ins'
  std::vector<backends::Tactic> tactics;
};

namespace runtime {

// The built-in registry if there are none.
const ir::Registry& registry_with(const Plugins* plugins);
std::shared_ptr<backends::Backend> backend_with(std::shared_ptr<backends::Backend> backend, std::shared_ptr<const Plugins> plugins);

}  // namespace runtime
}  // namespace tenfold
