// reformat_blocks: the same elements in another layout, or in dense order, by blocked transposes.
#include "backends/cpu/block/channel_blocks.h"
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

Verdict supports(const Problem& p) {
  const bool from = is_blocked(p.in[0]), to = is_blocked(p.out[0]);
  if (from && to && p.in[0].layout != p.out[0].layout) return Verdict::no("blocks of channels differ in size");
  if ((from || to) && p.in[0].dims.size() >= kMaxRank) return Verdict::no("too many dims for blocks of channels");
  if ((from && !p.in[0].dense) || (to && !p.out[0].dense)) return Verdict::no("strided blocks of channels");
  return can_move_any(p);
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{{kPlain}, {kPlain}}};
  if (p.in[0].dims.size() < 3) return all;
  all.push_back({{kPlain}, {kChannelsLast}});
  all.push_back({{kChannelsLast}, {kPlain}});
  all.push_back({{kChannelsLast}, {kChannelsLast}});
  const Layout blocked = blocked_layout(*p.device);
  for (const Layout other : {kPlain, kChannelsLast}) {
    all.push_back({{other}, {blocked}});
    all.push_back({{blocked}, {other}});
  }
  all.push_back({{blocked}, {blocked}});
  return all;
}

// {block of channels of the operand, of the result}; 0: it has none.
std::shared_ptr<const void> open(const Problem& p, const Config&) {
  const auto block = [](const OperandDesc& o) { return is_blocked(o) && o.dims.size() >= 3 ? int64_t{o.layout.block} : 0; };
  return open_move(p, {block(p.in[0]), block(p.out[0])});
}

// Channels as blocks of channels: an axis more, of which one side knows the stride already.
struct Split {
  int64_t strides[kMaxRank];
  Split(const Bound& of, bool blocked, int64_t block) noexcept {
    strides[0] = of.strides[0];
    strides[1] = blocked ? of.strides[1] : of.strides[1] * block;
    strides[2] = blocked ? 1 : of.strides[1];
    std::copy(of.strides + 2, of.strides + of.rank, strides + 3);
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const MoveKernel*>(self);
  const Bound &in = args.in[0], &out = args.out[0];
  const int64_t block = std::max(kernel.numbers[0], kernel.numbers[1]);
  if (block == 0) {
    kernel.copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, in.data, in.strides);
    return Status::ok;
  }
  const Split from(in, kernel.numbers[0] > 0, block), to(out, kernel.numbers[1] > 0, block);
  const int64_t whole = out.dims[1] / block, bytes = kernel.element_bytes();
  int64_t dims[kMaxRank] = {out.dims[0], whole, block};
  std::copy(out.dims + 2, out.dims + out.rank, dims + 3);
  if (whole > 0) kernel.copy.run(*args.parallel, dims, out.rank + 1, out.data, to.strides, in.data, from.strides);
  dims[1] = 1, dims[2] = out.dims[1] % block;  // the last block, of which some channels do not exist
  if (dims[2] > 0)
    kernel.copy.run(*args.parallel, dims, out.rank + 1, static_cast<char*>(out.data) + whole * to.strides[1] * bytes, to.strides,
                    static_cast<const char*>(in.data) + whole * from.strides[1] * bytes, from.strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_reformat_blocks() {
  return {.name = "reformat_blocks",
          .op = "Reformat",
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
