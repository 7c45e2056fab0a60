// Fused attention on AMX tiles: what its tactics share, whatever the terms that values are taken in.
#pragma once

#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/tactics/attention/attention_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

template <const AttentionKernels& kKernels>
struct AttentionAmx {
  static constexpr std::int64_t kTileRows = 16;

  // {query rows of a part}: keys and values are packed anew for each.
  static std::vector<Config> configs(const Problem& p) {
    std::vector<Config> all;
    const std::int64_t rows = round_up(std::max<std::int64_t>(likely(p, p.in[0].dims[2], 128), 1), kTileRows);
    for (const std::int64_t max : {256, 128, 64, 32})
      if (all.empty() || max < rows) all.push_back({max});
    return all;
  }
  static Verdict valid(const Problem&, const Config& c) {
    return Verdict::only_if(c.size() == 1 && c[0] > 0 && c[0] <= kKernels.max_rows && c[0] % kTileRows == 0,
                            "its rows of a part are out of range");
  }
  static std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
    return std::make_shared<AttentionPlan>(p, kKernels, c[0], kTileRows);
  }
  static ir::Dim worker_scratch(const Problem& p, const Config&) {
    return kKernels.scratch_bytes(p.in[0].dims[3].constant(), p.in[2].dims[3].constant());
  }
  static Status::Code run(const void* self, const RunArgs& args) noexcept { return static_cast<const AttentionPlan*>(self)->run(args); }

  static Tactic tactic(const char* name, Verdict (*supports)(const Problem&)) {
    return {.name = name,
            .ops = {"FusedAttention"},
            .supports = supports,
            .configs = configs,
            .valid = valid,
            .worker_scratch = worker_scratch,
            .open = open,
            .run = run,
            .work = attention_work};
  }
};

}  // namespace tenfold::backends::cpu
