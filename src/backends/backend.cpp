// Which backends exist, and which of their tactics may run an operator.
#include "backends/backend.h"

#include "backends/cpu/backend.h"
#include "backends/null/backend.h"
#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::backends {

std::vector<const Tactic*> tactics_for(const Backend& backend, const ir::OpDef& op) {
  std::vector<const Tactic*> found;
  const bool pointwise = op.scalar != nullptr || op.name == "Region";
  for (const Tactic& t : backend.tactics())
    if (t.op == op.name || t.op == "*" || (pointwise && t.op == "*pointwise")) found.push_back(&t);
  return found;
}

std::shared_ptr<Backend> open_backend(std::string_view name, std::uint32_t features) {
  if (name == "cpu") return open_cpu(features);
  if (name == "null") return open_null();
  fail(ErrorKind::unsupported, cat("there is no backend '", name, "'; this build has: cpu, null"));
}

}  // namespace tenfold::backends
