// Loading and launching generated elementwise kernels.
#pragma once

#include "backends/cuda/codegen/elements.h"
#include "backends/cuda/device/launch.h"

namespace tenfold::backends::cuda {

class OpenElements {
 public:
  OpenElements(const ElementsProblem& p, const DeviceInfo& device, Opening& opening);
  // `dims` of the space; inputs, then outputs, in the problem's order.
  Status::Code run(const Queue& queue, const std::int64_t* dims, std::span<const Bound* const> operands) const noexcept;

 private:
  ElementsKernel kernel_;
  std::shared_ptr<const LoadedModule> module_;
  Function vectors_ = nullptr, singles_ = nullptr;
  std::vector<int> vector_bytes_;  // by operand: alignment that `vectors` needs, 1 if it reads one by one
};

inline std::vector<Config> one_config(const Problem&) { return {{0}}; }
// Whether the problem has operand i on that side.
inline bool given(const std::vector<OperandDesc>& side, std::size_t i) { return i < side.size() && !side[i].missing; }
inline bool given(const Problem& p, std::size_t i) { return given(p.in, i); }

}  // namespace tenfold::backends::cuda
