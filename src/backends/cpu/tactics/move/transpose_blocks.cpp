// transpose_blocks: any permutation, as rows of memory where the innermost axis stays and as blocked transposes where it moves.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

ir::Ints permutation(const Problem& p) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  ir::Ints reversed;
  for (std::int64_t a = 0; a < rank; ++a) reversed.push_back(rank - 1 - a);
  return p.attributes->ints("perm", reversed);
}

// Where the channels move, channels-last order on the other side leaves all elements where they are:
// builder/program/storage.cpp makes that a view.
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{{kPlain}, {kPlain}}};
  if (p.in[0].dims.size() < 3) return all;
  const auto moved = [&](Layout in, Layout out) {
    const ir::Dims from = strides(in, p.in[0].dims), to = strides(out, p.out[0].dims);
    const ir::Ints perm = permutation(p);
    for (std::size_t i = 0; i < perm.size(); ++i)
      if (from[static_cast<std::size_t>(perm[i])] != to[i]) return true;
    return false;
  };
  if (!moved(kPlain, kChannelsLast)) all.push_back({{kPlain}, {kChannelsLast}});
  if (!moved(kChannelsLast, kPlain)) all.push_back({{kChannelsLast}, {kPlain}});
  return all;
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return open_move(p, permutation(p)); }
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const MoveKernel*>(self);
  const Bound &in = args.in[0], &out = args.out[0];
  std::int64_t strides[kMaxRank];
  for (int a = 0; a < out.rank; ++a) strides[a] = in.strides[kernel.numbers[static_cast<std::size_t>(a)]];
  kernel.copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, in.data, strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_transpose_blocks() {
  return {.name = "transpose_blocks",
          .ops = {"Transpose"},
          .supports = can_move,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Transpose f32[3,70,301] perm=[0,2,1]",
                    "Transpose f32[2,100,83] perm=[0,2,1]",
                    "Transpose i32[1,1300,90] perm=[0,2,1]",
                    "Transpose u8[3,70,301] perm=[2,0,1]",
                    "Transpose u8[3,132,300] perm=[2,0,1]",
                    "Transpose i64[3,1,40,33] perm=[0,3,2,1]",
                    "Transpose f32[2,5,12,32] perm=[0,2,1,3]"}};
}

}  // namespace tenfold::backends
