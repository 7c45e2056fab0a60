// How a kernel packs a constant: which choices read the same bytes, and how many those are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tune/tuner.h"

namespace tenfold::tune {

// From this size on a copy of a constant counts.
inline constexpr std::int64_t kLargeConstant = 16 << 10;
inline bool is_large(const ir::Value* v) {
  return v && v->is_constant() && v->constant->tensor.dtype() != DType::string && v->constant->tensor.bytes() >= kLargeConstant;
}

struct PackedForm {
  std::string key;          // equal keys: equal bytes for one weight
  std::int64_t bytes = 0;
  bool operator<(const PackedForm& other) const { return key < other.key; }
};

// Finds out by packing: no tactic has to say how it packs, and two that share their code for it need not know of each other. One weight
// of each type and shape stands for all, since packings differ by what they do and not by the numbers that they do it to.
class PackedForms {
 public:
  explicit PackedForms(const backends::DeviceInfo& device) : device_(device) {}
  // Of each large constant among the operands, in their order. `choice` without a tactic: the reference kernel.
  std::vector<PackedForm> of(const ir::Node& node, const NodeChoice& choice, const TuneOptions& options);
  // The large constants whose forms these are.
  static std::vector<const ir::Value*> constants_of(const ir::Node& node);

 private:
  PackedForm packed(const ir::Node& node, const NodeChoice& choice, const backends::Problem& problem, int input);
  const backends::DeviceInfo& device_;
  std::map<std::string, std::vector<PackedForm>> known_;   // by problem, tactic and configuration
  std::map<std::string, Tensor> samples_;                  // by type and shape
};

}  // namespace tenfold::tune
