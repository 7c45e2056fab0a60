// TacticSet: every tactic that a build or an engine may use on one device: the backend's own and those that plug-ins
// add beside them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends {

class Backend;

// Refers to tactics and device, which their owners (the backend, the plug-ins, a plan) keep alive. Immutable, so thread
// safe.
class TacticSet {
 public:
  TacticSet() = default;
  TacticSet(const Backend& backend, std::span<const Tactic> more = {});  // NOLINT: a backend alone is such a set
  TacticSet(const DeviceInfo& device, std::span<const Tactic> own, std::span<const Tactic> more = {});
  const DeviceInfo& device() const { return *device_; }
  const Tactic* find(std::string_view name) const;  // null: there is none
  // Those that may run an operator, preferred ones first and then in name order: its own, those for any operator ("*"),
  // and those for every pointwise operator and Region ("*pointwise").
  std::vector<const Tactic*> of(const ir::OpDef& op) const;
  // The same tactics as they would be on another device: to check its plans and to undo its packings, never to run.
  TacticSet as_on(const DeviceInfo& device) const;

 private:
  const DeviceInfo* device_ = nullptr;
  std::vector<const Tactic*> by_name_;
};

}  // namespace tenfold::backends
