// Views of blocked channels.
#include "backends/cpu/block/channel_blocks.h"

#include "base/checked.h"

namespace tenfold::backends::cpu {

Layout blocked_layout(const DeviceInfo& device) {
  return {Layout::channels_blocked, static_cast<std::uint8_t>(device.features & kAvx512 ? 16 : 8)};
}

bool worth_blocking(const OperandDesc& operand, Layout blocked) {
  const ir::Dims& dims = operand.dims;
  const bool picture = operand.dtype == DType::f32 && (dims.size() == 4 || dims.size() == 5);
  return picture && dims[1].is_constant() && dims[1].constant() >= blocked.block;
}

Verdict suits_blocks(const Problem& p) {
  const OperandDesc &x = p.in[0], &y = p.out[0];
  if (x.layout != blocked_layout(*p.device) || y.layout != x.layout) return Verdict::no("input and result are not in blocks of one vector");
  if (!x.dense || !y.dense || p.out.size() != 1) return Verdict::no("an operand in blocks is strided");
  if (p.in.size() > BlockExecutor::kMaxInputs) return Verdict::no("too many operands for blocks");
  for (std::size_t i = static_cast<std::size_t>(p.anchor_inputs); i < p.in.size(); ++i) {
    const OperandDesc& o = p.in[i];
    const bool whole = is_blocked(o) && o.layout == y.layout && o.dims == y.dims && o.dtype == DType::f32 && o.dense;
    const bool shared = !is_blocked(o) && (o.dims.size() < y.dims.size() || o.dims[0] == ir::Dim(1));
    if (!whole && !shared) return Verdict::no("an operand of the epilogue differs from image to image, or is laid out otherwise");
  }
  return Verdict::ok();
}

std::optional<Formats> blocked_formats(const Problem& p) {
  const Layout blocked = blocked_layout(*p.device);
  if (!worth_blocking(p.in[0], blocked)) return std::nullopt;
  Problem blocks = p;
  blocks.in[0].layout = blocks.out[0].layout = blocked;
  for (std::size_t i = static_cast<std::size_t>(p.anchor_inputs); i < p.in.size(); ++i)
    if (!p.in[i].missing && p.in[i].dims == p.out[0].dims) blocks.in[i].layout = blocked;
  if (!suits_blocks(blocks)) return std::nullopt;
  Formats formats;
  for (const OperandDesc& in : blocks.in) formats.in.push_back(in.layout);
  for (const OperandDesc& out : blocks.out) formats.out.push_back(out.layout);
  return formats;
}

std::int64_t stored_elements(const Bound& of, std::int64_t block) noexcept {
  std::int64_t count = of.dims[0] * ceil_div(of.dims[1], block) * block;
  for (int i = 2; i < of.rank; ++i) count *= of.dims[i];
  return count;
}

BlocksAsImages::BlocksAsImages(const Bound& of, std::int64_t block) noexcept {
  std::copy(of.dims, of.dims + of.rank, dims);
  std::copy(of.strides, of.strides + of.rank, strides);
  dims[0] *= ceil_div(of.dims[1], block);
  dims[1] = block;
  strides[0] = of.strides[1];
  strides[1] = 1;
}

Bound BlockOfChannels::narrowed(const Bound& of, std::int64_t block, std::int64_t n, std::int64_t first) noexcept {
  std::int64_t *dims = numbers_[used_][0], *strides = numbers_[used_][1];
  ++used_;
  std::copy(of.dims, of.dims + of.rank, dims);
  std::copy(of.strides, of.strides + of.rank, strides);
  dims[0] = strides[1] = 1;
  dims[1] = block;
  return {of.as<float>() + n * of.strides[0] + first / block * of.strides[1] - first, dims, strides, of.rank};
}

BlockOfChannels::BlockOfChannels(const RunArgs& all, std::span<const char> blocked, std::int64_t block, std::int64_t n,
                                 std::int64_t first) noexcept
    : args_(all) {
  for (std::size_t i = 0; i < all.in.size(); ++i) in_[i] = blocked[i] ? narrowed(all.in[i], block, n, first) : all.in[i];
  out_[0] = narrowed(all.out[0], block, n, first);
  args_.in = {in_, all.in.size()};
  args_.out = {out_, 1};
}

}  // namespace tenfold::backends::cpu
