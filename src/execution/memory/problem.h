// Placing buffers in one arena, as a problem without graphs: each buffer lives from its first to its last step and needs a range
// of bytes that no other living buffer touches.
#pragma once

#include <cstdint>
#include <vector>

namespace tenfold::memory {

struct Buffer {
  std::int32_t first = 0, last = 0;   // steps, both included
  std::int64_t size = 0;              // bytes
  std::int64_t alignment = 64;        // of the offset; a power of two
  bool overlaps(const Buffer& other) const { return first <= other.last && other.first <= last; }
};
struct Problem { std::vector<Buffer> buffers; };
struct Solution {
  std::vector<std::int64_t> offsets;  // one for each buffer
  std::int64_t height = 0;            // bytes of the arena
};

// Small heights, found by greedy orders, then bounded search. Depends on nothing but the problem: no clock, no chance.
Solution solve(const Problem& problem);

// The largest sum of sizes that are alive at one step: no arena can be smaller.
std::int64_t lower_bound(const Problem& problem);

// Throws Error(internal) naming the buffers if the solution breaks the problem's conditions.
void validate(const Problem& problem, const Solution& solution);

}  // namespace tenfold::memory
