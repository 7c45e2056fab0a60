// Lays a lowered body out: which step writes which slot, what may be written straight to an output, what each pass repeats.
#include "backends/cpu/block/program.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kSlotsTarget = 16 << 10;  // so that slots and operands stay in a 32 KiB first-level cache
constexpr std::int64_t kRowBlock = 2048;         // with reductions: rows up to this are read once

class Layout {
 public:
  Layout(const Lowered& lowered, BlockExecutor::Program& program) : lowered_(lowered), program_(program) {}

  void run() {
    const int values = lowered_.inputs() + static_cast<int>(lowered_.items.size());
    program_.values.resize(static_cast<std::size_t>(values));
    last_use_.assign(static_cast<std::size_t>(values), -1);
    collect();
    mark_direct();
    assign_slots();
    if (program_.reduces) split_phases();
  }

 private:
  BlockValue& value(int v) { return program_.values[static_cast<std::size_t>(v)]; }

  void collect() {
    program_.inputs = lowered_.inputs();
    for (int v = 0; v < lowered_.inputs(); ++v) {
      value(v).bytes = static_cast<std::uint8_t>(lowered_.input_bytes[static_cast<std::size_t>(v)]);
      value(v).support = std::uint32_t{1} << v;
    }
    for (int v = lowered_.inputs(); v < static_cast<int>(program_.values.size()); ++v) {
      const Item& item = lowered_.item(v);
      value(v).bytes = static_cast<std::uint8_t>(item.bytes);
      if (item.is_constant()) {
        value(v).pool = static_cast<std::int64_t>(program_.pool.size()) * 8;
        program_.pool.push_back(item.bits);
        continue;
      }
      BlockStep step{.kernel = item.kernel,
                     .reduce = item.reduce,
                     .in = {},
                     .out = static_cast<std::uint16_t>(v),
                     .arity = static_cast<std::uint8_t>(item.arity)};
      for (int k = 0; k < item.arity; ++k) {
        step.in[k] = static_cast<std::uint16_t>(item.in[k]);
        last_use_[static_cast<std::size_t>(item.in[k])] = static_cast<int>(program_.steps.size());
        if (!item.reduce) value(v).support |= value(item.in[k]).support;
      }
      program_.reduces = program_.reduces || item.reduce;
      program_.steps.push_back(step);
    }
    for (std::size_t j = 0; j < lowered_.outputs.size(); ++j) {
      program_.outputs.push_back(static_cast<std::uint16_t>(lowered_.outputs[j]));
      program_.output_bytes.push_back(static_cast<std::uint8_t>(lowered_.output_bytes[j]));
    }
  }

  // An output may be the memory of an input, so a step writes it directly only if no later step reads an input, and no other
  // pass runs the step. The first output that takes a value gets it directly.
  void mark_direct() {
    const int steps = static_cast<int>(program_.steps.size());
    int last_reader = -1;
    for (int s = 0; s < steps; ++s)
      for (int k = 0; k < program_.steps[static_cast<std::size_t>(s)].arity; ++k)
        if (program_.steps[static_cast<std::size_t>(s)].in[k] < program_.inputs) last_reader = s;
    for (std::uint16_t v : program_.outputs)
      if (v < program_.inputs) return;  // a plain copy of an input follows the steps: it reads, too
    std::vector<bool> early = needed_by_reductions();
    for (std::size_t j = 0; j < program_.outputs.size(); ++j) {
      const int v = program_.outputs[j];
      for (int s = last_reader; s >= 0 && s < steps; ++s)
        if (program_.steps[static_cast<std::size_t>(s)].out == v && !program_.steps[static_cast<std::size_t>(s)].reduce &&
            !early[static_cast<std::size_t>(v)] && value(v).direct_output < 0)
          value(v).direct_output = static_cast<std::int8_t>(j);
    }
  }
  std::vector<bool> needed_by_reductions() const {
    std::vector<bool> needed(program_.values.size());
    for (std::size_t s = program_.steps.size(); s-- > 0;) {
      const BlockStep& step = program_.steps[s];
      if (!step.reduce && !needed[step.out]) continue;
      for (int k = 0; k < step.arity; ++k) needed[step.in[k]] = true;
    }
    return needed;
  }

  // Linear scan. A result takes over the slot of an operand that dies with it if both are surely of one shape and size: a value
  // that is the same for a whole row is stored once a row, and which values are is known only when operands are bound.
  void assign_slots() {
    std::uint8_t widest = 1;
    for (const BlockValue& v : program_.values) widest = std::max(widest, v.bytes);
    std::vector<int> slot(program_.values.size(), -1), free;
    int count = 0;
    std::vector<bool> kept(program_.values.size());  // never freed: outputs and what reductions leave for later passes
    for (std::uint16_t v : program_.outputs) kept[v] = true;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const BlockStep& step = program_.steps[s];
      int mine = -1;
      for (int k = 0; k < step.arity; ++k) {
        const int v = step.in[k];
        if (slot[static_cast<std::size_t>(v)] < 0 || last_use_[static_cast<std::size_t>(v)] != static_cast<int>(s) ||
            kept[static_cast<std::size_t>(v)])
          continue;
        const int its = slot[static_cast<std::size_t>(v)];
        slot[static_cast<std::size_t>(v)] = -1;
        if (mine < 0 && !step.reduce && value(v).bytes == value(step.out).bytes && value(v).support == value(step.out).support)
          mine = its;
        else
          freed_.push_back(its);
      }
      if (mine < 0 && !free.empty() && !step.reduce) {
        mine = free.back();
        free.pop_back();
      }
      if (mine < 0) mine = count++;
      free.insert(free.end(), freed_.begin(), freed_.end());
      freed_.clear();
      slot[step.out] = mine;
      kept[step.out] = kept[step.out] || step.reduce;
      value(step.out).slot = mine;
    }
    for (int v = 0; v < program_.inputs; ++v) value(v).slot = count++;
    std::int64_t block = kRowBlock;
    if (!program_.reduces)
      for (block = 1024; block > 256 && block * widest * std::max(1, count - program_.inputs) > kSlotsTarget;) block /= 2;
    program_.block = block;
    const std::int64_t slot_bytes = block * widest + 64;
    for (BlockValue& v : program_.values)
      if (v.slot >= 0) v.slot *= slot_bytes;
    program_.slots_bytes = slot_bytes * count;
  }

  // Pass p computes the reductions of depth p and whatever they are made from; the last pass the outputs.
  void split_phases() {
    std::vector<int> depth(program_.values.size(), 0);  // how many reductions lie below a value, its own included
    int deepest = 0;
    for (const BlockStep& step : program_.steps) {
      for (int k = 0; k < step.arity; ++k) depth[step.out] = std::max(depth[step.out], depth[step.in[k]]);
      depth[step.out] += step.reduce ? 1 : 0;
      deepest = std::max(deepest, depth[step.out]);
    }
    for (int p = 0; p <= deepest; ++p) {
      std::vector<bool> needed(program_.values.size());
      if (p == deepest)
        for (std::uint16_t v : program_.outputs) needed[v] = true;
      std::vector<std::uint16_t> phase;
      for (std::size_t s = program_.steps.size(); s-- > 0;) {
        const BlockStep& step = program_.steps[s];
        const bool mine = step.reduce ? depth[step.out] == p + 1 : needed[step.out];
        if (!mine) continue;
        phase.push_back(static_cast<std::uint16_t>(s));
        for (int k = 0; k < step.arity; ++k) needed[step.in[k]] = true;
      }
      std::reverse(phase.begin(), phase.end());
      program_.phases.push_back(std::move(phase));
    }
  }

  const Lowered& lowered_;
  BlockExecutor::Program& program_;
  std::vector<int> last_use_, freed_;
};

}  // namespace

BlockExecutor::Program BlockExecutor::Program::make(const Lowered& lowered, const PointwiseTables& tables) {
  Program program;
  program.tables = tables;
  Layout(lowered, program).run();
  return program;
}

}  // namespace tenfold::backends::cpu
