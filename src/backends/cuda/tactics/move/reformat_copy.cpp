// reformat_copy: the same tensor in another layout, or a strided view made dense.
#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) { return can_copy(p.in[0], p.out[0], p.box); }

std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all;
  for (Layout from : {kPlain, kChannelsLast})
    for (Layout to : {kPlain, kChannelsLast})
      if ((from == kPlain && to == kPlain) || p.in[0].dims.size() > 2) all.push_back({{from}, {to}});
  return all;
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return open_copy(p.in[0], p.out[0], p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  return run_copy(*static_cast<const OpenElements*>(self), queue_of(args), args.in[0], args.out[0]);
}

}  // namespace

Tactic cuda_reformat_copy() {
  return {.name = "reformat_copy",
          .ops = {"Reformat"},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Reformat f16[2,35,20,21]"}};
}

}  // namespace tenfold::backends
