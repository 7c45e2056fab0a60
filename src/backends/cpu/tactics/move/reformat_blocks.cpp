// reformat_blocks: the same elements in another layout, or in dense order, by transposes of blocks.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{{kPlain}, {kPlain}}};
  if (p.in[0].dims.size() < 3) return all;
  all.push_back({{kPlain}, {kChannelsLast}});
  all.push_back({{kChannelsLast}, {kPlain}});
  all.push_back({{kChannelsLast}, {kChannelsLast}});
  return all;
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return open_move(p); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const MoveKernel*>(self);
  const Bound &in = args.in[0], &out = args.out[0];
  kernel.copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, in.data, in.strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_reformat_blocks() {
  return {.name = "reformat_blocks",
          .ops = {"Reformat"},
          .supports = can_move,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Reformat f32[2,35,20,21]",
                    "Reformat u8[2,35,20,21]"}};
}

}  // namespace tenfold::backends
