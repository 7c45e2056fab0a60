// Copies in stretches, so that one tensor keeps several threads busy.
#include "onnx_import/deferred_copies.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/checked.h"
#include "base/threads/spread.h"

namespace tenfold::onnx_import {
namespace {

constexpr std::size_t kBlock = 32 << 20, kStretch = 4 << 20;

}  // namespace

std::byte* DeferredCopies::place(std::size_t bytes) {
  if (!block_ || size_ - used_ < bytes) {
    used_ = 0, size_ = std::max(bytes, kBlock);
    // Small pages: these bytes live for a build, and pages just freed are cleared faster than huge ones are found.
    block_ = {std::aligned_alloc(64, static_cast<std::size_t>(round_up(static_cast<std::int64_t>(size_), 64))), std::free};
    require(block_ != nullptr, ErrorKind::out_of_memory, "cannot allocate ", size_, " bytes for weights");
  }
  auto* const at = static_cast<std::byte*>(block_.get()) + used_;
  used_ += std::min(static_cast<std::size_t>(round_up(static_cast<std::int64_t>(bytes), 64)), size_ - used_);
  return at;
}

Tensor DeferredCopies::tensor(DType type, const Shape& shape, std::span<const std::byte> bytes) {
  std::byte* const to = place(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += kStretch)
    copies_.push_back({bytes.data() + at, to + at, std::min(kStretch, bytes.size() - at), block_});
  return Tensor(type, shape, block_, to);
}

void DeferredCopies::copy() {
  std::int64_t bytes = 0;
  for (const Copy& c : copies_) bytes += static_cast<std::int64_t>(c.bytes);
  spread(static_cast<std::int64_t>(copies_.size()), bytes, [&](std::int64_t part) {
    const Copy& c = copies_[static_cast<std::size_t>(part)];
    std::memcpy(c.to, c.from, c.bytes);
  });
  copies_.clear();
}

}  // namespace tenfold::onnx_import
