// Steps that do not need each other, recorded beside each other: which branch of the stream each goes to, and whom it follows. Steps
// depend on each other by the bytes that they read and write, for the arena gives memory to several values in turn.
#include "runtime/device/graph_branches.h"

#include <algorithm>

namespace tenfold::runtime {
namespace {

struct Bytes {
  std::uintptr_t first = 0, end = 0;
  bool meets(const Bytes& other) const noexcept { return first < other.end && other.first < end; }
};
struct Touched {
  std::vector<Bytes> read, written;
};

Bytes bytes_of(const backends::Bound& b, const plan::Operand& o) {
  const auto at = reinterpret_cast<std::uintptr_t>(b.data);
  std::int64_t low = 0, high = 0;  // offsets of the outermost elements
  for (int d = 0; d < b.rank; ++d) {
    if (b.dims[d] == 0) return {};
    const std::int64_t reach = (b.dims[d] - 1) * b.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const std::int64_t width = bits(o.dtype);
  return {at + static_cast<std::uintptr_t>(low * width / 8), at + static_cast<std::uintptr_t>(((high + 1) * width + 7) / 8)};
}

Touched touched_by(const BoundStep& bound, const Frame& frame) {
  const plan::Step& step = *bound.open->step;
  Touched t;
  for (std::size_t i = 0; i < step.in.size(); ++i)
    if (plan::is_memory(step.in[i].at.space) && step.in[i].at.space != plan::Space::weights)
      t.read.push_back(bytes_of(bound.in[i], step.in[i]));
  for (std::size_t i = 0; i < step.out.size(); ++i)
    if (plan::is_memory(step.out[i].at.space)) t.written.push_back(bytes_of(bound.out[i], step.out[i]));
  if (step.workspace_bytes > 0) {
    const auto at = reinterpret_cast<std::uintptr_t>(frame.arena + step.workspace_offset);
    t.written.push_back({at, at + static_cast<std::uintptr_t>(step.workspace_bytes)});
  }
  return t;
}

bool meet(const std::vector<Bytes>& some, const std::vector<Bytes>& others) noexcept {
  for (const Bytes& a : some)
    for (const Bytes& b : others)
      if (a.meets(b)) return true;
  return false;
}
bool depends(const Touched& later, const Touched& earlier) noexcept {
  return meet(later.read, earlier.written) || meet(later.written, earlier.written) || meet(later.written, earlier.read);
}

struct Planner {
  int branches;
  BranchPlan plan;
  std::vector<Touched> touched;
  std::vector<int> last;               // of each branch: its last step, or -1
  std::vector<std::vector<int>> seen;  // of each step: for each branch, the last step of it that is over when this one is

  // The branch whose last step this one needs anyway; else one that nobody uses, or that was left longest ago.
  int choose(const std::vector<int>& needs) const {
    for (int branch = 0; branch < branches; ++branch)
      if (std::find(needs.begin(), needs.end(), last[static_cast<std::size_t>(branch)]) != needs.end()) return branch;
    if (branches == 1 || (needs.empty() && last[0] < 0)) return 0;
    return static_cast<int>(std::min_element(last.begin() + 1, last.end()) - last.begin());
  }

  void add(int step) {
    std::vector<int> needs;
    for (int other = step - 1; other >= 0; --other)
      if (depends(touched[static_cast<std::size_t>(step)], touched[static_cast<std::size_t>(other)])) needs.push_back(other);
    const int branch = choose(needs);
    const int before = last[static_cast<std::size_t>(branch)];
    std::vector<int> over = before < 0 ? std::vector<int>(static_cast<std::size_t>(branches), -1) : seen[static_cast<std::size_t>(before)];
    BranchPlan::Place place{.branch = branch};
    // A branch that takes no part yet has to be drawn into the graph: by its first step's neighbor if it needs nothing.
    if (branch > 0 && before < 0 && needs.empty()) needs.push_back(last[0]);
    for (int other : needs) {  // the latest first: it may stand for the others
      const auto at = static_cast<std::size_t>(plan.steps[static_cast<std::size_t>(other)].branch);
      if (over[at] >= other) continue;
      plan.steps[static_cast<std::size_t>(other)].followed = true;
      place.follows.push_back(other);
      for (std::size_t l = 0; l < over.size(); ++l) over[l] = std::max(over[l], seen[static_cast<std::size_t>(other)][l]);
    }
    over[static_cast<std::size_t>(branch)] = step;
    last[static_cast<std::size_t>(branch)] = step;
    seen.push_back(std::move(over));
    plan.steps.push_back(std::move(place));
  }
};

}  // namespace

BranchPlan plan_branches(const Frame& frame, int branches) {
  Planner planner{
      .branches = branches, .plan = {}, .touched = {}, .last = std::vector<int>(static_cast<std::size_t>(branches), -1), .seen = {}};
  for (const BoundStep& bound : frame.steps) planner.touched.push_back(touched_by(bound, frame));
  for (int step = 0; step < static_cast<int>(frame.steps.size()); ++step) planner.add(step);
  BranchPlan& plan = planner.plan;
  if (plan.steps.empty()) return plan;
  for (int branch = 1; branch < branches; ++branch) {
    const int end = planner.last[static_cast<std::size_t>(branch)];
    if (end < 0) continue;
    plan.several = true;
    if (planner.last[0] >= 0 && planner.seen[static_cast<std::size_t>(planner.last[0])][static_cast<std::size_t>(branch)] >= end) continue;
    plan.steps[static_cast<std::size_t>(end)].followed = true;
    plan.joined_at_end.push_back(end);
  }
  return plan;
}

}  // namespace tenfold::runtime
