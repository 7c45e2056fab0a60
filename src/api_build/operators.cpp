// The list of supported ONNX operators, read from the operator table.
#include <algorithm>
#include <tuple>

#include "ir/op_def.h"
#include "tenfold/build.h"

namespace tenfold {

std::vector<OperatorInfo> supported_operators() {
  std::vector<OperatorInfo> found;
  for (const ir::OpDef* def : ir::Registry::builtin().all())
    for (const ir::OnnxForm& form : def->from_onnx) found.push_back({form.domain.empty() ? "ai.onnx" : form.domain, form.op, form.since});
  const auto key = [](const OperatorInfo& o) { return std::tie(o.domain, o.name, o.since); };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  // An operator changed by the standard has a form for each change; the first one says since when it is supported.
  const auto same = [](const OperatorInfo& a, const OperatorInfo& b) { return a.domain == b.domain && a.name == b.name; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

}  // namespace tenfold
