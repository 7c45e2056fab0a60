// Looking for tactics by name and by operator.
#include "backends/tactic_set.h"

#include <algorithm>
#include <iterator>

#include "backends/backend.h"
#include "ir/op_def.h"

namespace tenfold::backends {

TacticSet::TacticSet(const Backend& backend, std::span<const Tactic> more) : TacticSet(backend.info(), backend.tactics(), more) {}

TacticSet::TacticSet(const DeviceInfo& device, std::span<const Tactic> own, std::span<const Tactic> more) : device_(&device) {
  for (const Tactic& t : own) by_name_.push_back(&t);
  for (const Tactic& t : more) by_name_.push_back(&t);
  std::sort(by_name_.begin(), by_name_.end(), [](const Tactic* a, const Tactic* b) { return a->name < b->name; });
}

const Tactic* TacticSet::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [](const Tactic* t, std::string_view n) { return t->name < n; });
  return at != by_name_.end() && (*at)->name == name ? *at : nullptr;
}

std::vector<const Tactic*> TacticSet::of(const ir::OpDef& op) const {
  std::vector<const Tactic*> found;
  std::copy_if(by_name_.begin(), by_name_.end(), std::back_inserter(found), [&](const Tactic* t) { return t->computes(op); });
  std::stable_partition(found.begin(), found.end(), [](const Tactic* t) { return t->preferred; });
  return found;
}

TacticSet TacticSet::as_on(const DeviceInfo& device) const {
  TacticSet other = *this;
  other.device_ = &device;
  return other;
}

}  // namespace tenfold::backends
