// The attention kernel for Hopper: queries, keys and values come by TMA as they lie, wgmma multiplies them, scores and weights stay in
// registers. Blocks stay and take one tile of queries after the other.
#pragma once

#include <algorithm>

#include "backends/cuda/codegen/attention/attention.h"
#include "backends/cuda/kernels/attention/attention_wgmma_args.h"

namespace tenfold::backends::cuda {

// Teams of a block take tiles of queries of their own: while one waits for loads or raises scores, another multiplies.
struct AttentionTile {
  int groups = 2;  // of a team, of four warps and 64 queries each
  int teams = 2;
  int keys = 128;  // of one step, a multiple of 16
  int stages = 2;  // steps whose keys and values a team has in shared memory
  int queries() const { return 64 * groups; }
  int threads() const { return 128 * (teams * groups + 1); }
  // Of a thread that multiplies, when those that load have kept 24 of what the block was started with.
  int registers() const {
    const int at_start = std::min(248, 65536 / threads() / 8 * 8), groups_in_all = teams * groups;
    return std::min(240, (at_start * (groups_in_all + 1) - 24) / groups_in_all / 8 * 8);
  }
  int shared_bytes(const AttentionProblem& p) const;
};
int attention_chunk(const AttentionProblem& p);
// `keys`: how many there are, or -1 where only the run knows.
std::string generate_attention_wgmma(const AttentionProblem& p, const AttentionTile& tile, std::int64_t keys, std::int64_t max_keys);

}  // namespace tenfold::backends::cuda
