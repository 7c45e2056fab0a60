// Blocked channels on the CPU: blocks of one vector, and what kernels that walk channels-last memory are shown of them.
#pragma once

#include <optional>
#include <span>

#include "backends/cpu/block/epilogue.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Layout blocked_layout(const DeviceInfo& device);
inline bool is_blocked(const OperandDesc& operand) { return !operand.missing && operand.layout.order == Layout::channels_blocked; }
// Whether a tensor is worth laying out so: pictures with at least a block of channels.
bool worth_blocking(const OperandDesc& operand, Layout blocked);
// A convolution in blocks: input, result and whole operands of the epilogue; its others must be the same for every image.
Verdict suits_blocks(const Problem& problem);
std::optional<Formats> blocked_formats(const Problem& problem);  // null: it is not suited, or not worth it
// Elements that it takes in memory, those that pad its last block included.
std::int64_t stored_elements(const Bound& of, std::int64_t block) noexcept;

// Every block of every image is an image of its own, channels-last, of `block` channels.
struct BlocksAsImages {
  std::int64_t dims[kMaxRank], strides[kMaxRank];
  BlocksAsImages(const Bound& of, std::int64_t block) noexcept;
  Bound bound(const Bound& of) const noexcept { return {of.data, dims, strides, of.rank}; }
};

// The operands of a run narrowed to the channels from `first` of image `n`: blocked ones become one channels-last image whose columns
// keep their numbers in the whole tensor; all others stay. Of f32.
class BlockOfChannels {
 public:
  // blocked[i]: operand i is; results are.
  BlockOfChannels(const RunArgs& all, std::span<const char> blocked, std::int64_t block, std::int64_t n, std::int64_t first) noexcept;
  BlockOfChannels(const BlockOfChannels&) = delete;
  BlockOfChannels& operator=(const BlockOfChannels&) = delete;
  const RunArgs& args() const noexcept { return args_; }

 private:
  static constexpr int kMost = BlockExecutor::kMaxInputs + 4;
  Bound narrowed(const Bound& of, std::int64_t block, std::int64_t n, std::int64_t first) noexcept;
  Bound in_[kMost], out_[1];
  std::int64_t numbers_[kMost + 1][2][kMaxRank];  // dims and strides of what is narrowed
  int used_ = 0;
  RunArgs args_;
};

}  // namespace tenfold::backends::cpu
