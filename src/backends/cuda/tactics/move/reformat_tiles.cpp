// reformat_tiles: the same tensor in another order of its elements, through tiles in shared memory.
#include "backends/cuda/tactics/move/tiles_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  constexpr std::int64_t kFewChannels = 8;
  if (p.in[0].layout != p.out[0].layout && p.bounds(p.in[0].dims[1]).upper < kFewChannels) return Verdict::no("channels that fill no tile");
  return can_tile(p.in[0], p.out[0]);
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{{{kPlain}, {kPlain}}};   // a strided view
  if (p.in[0].dims.size() > 2) all.push_back({{kPlain}, {kChannelsLast}}), all.push_back({{kChannelsLast}, {kPlain}});
  return all;
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return open_tiles(p.in[0].dtype, c[0] != 0, *p.device, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept { return run_tiles(self, queue_of(args), args.in[0], args.out[0]); }

}  // namespace

Tactic cuda_reformat_tiles() {
  return {.name = "reformat_tiles",
          .ops = {"Reformat"},
          .preferred = true,
          .supports = supports,
          .configs = tile_configs,
          .valid = valid_tiles,
          .formats = formats,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
