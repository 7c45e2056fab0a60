// Printing kernels that walk rows.
#include "backends/cuda/codegen/region/row_region.h"

#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/region/row_shape.h"
#include "base/check.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using ir::Dim;

class Printer {
 public:
  Printer(const RowRegionProblem& p, const RowPhases& phases, IndexSpace& outer, IndexSpace& row, const RowShape& shape, int width)
      : p_(p), phases_(phases), outer_(outer), row_(row), shape_(shape), width_(width) {}

  // All walks of a row by the threads that have it.
  std::string whole(const char* name) {
    const bool clusters = shape_.cluster > 1;
    std::string out = head(name, shape_.threads * shape_.rows_per_block, shape_.threads, shape_.cluster);
    if (clusters) out += cat("  __shared__ float slots[", phases_.reductions, "];\n  i64 line = blockIdx.x / ", shape_.cluster, ";\n");
    else out += cat("  i64 line = (i64)blockIdx.x * ", shape_.rows_per_block, " + threadIdx.x / ", shape_.threads, ";\n");
    out += "  const bool there = line < a.rows;\n  if (!there) line = a.rows - 1;\n";   // every lane takes part in the sums
    out += cat("  const ", index(), " begin = ", clusters ? cat("blockIdx.x % ", shape_.cluster, " * ", steps(), " * kThreads") : "0",
               ", end = ", vectors_of_row(), "; (void)end;\n", rows());
    if (shape_.held) out += hold();
    int slot = 0;
    for (const RowPhase& phase : phases_.phases)
      for (int v : phase.kept) out += cat("  float k", v, "[", steps(), "][", width_, "];\n");
    for (const RowPhase& phase : phases_.phases) {
      out += walk(phase);
      out += clusters ? over_blocks(phase, slot) : "";
      for (int r : phase.reductions)
        if (!clusters) out += cat("  const float r", r, " = ", over(r, cat("s", r)), ";\n");
      out += numbers(phase.behind);
    }
    out += "  next_may_start();\n";
    return out + results("there") + (clusters ? "  cluster_sync();   // nobody leaves while others read\n}\n" : "}\n");
  }
  // Walk `k` by one of the blocks that share a row; the last one makes the results.
  std::string shared(const char* name, std::size_t k) {
    std::string out = head(name, kRowRegionThreads, kRowRegionThreads);
    out += "  const i64 line = blockIdx.y;\n";
    out += cat("  const ", index(), " all = ", vectors_of_row(), ", begin = min((", index(), ")(blockIdx.x * a.chunk), all), end = min((",
               index(), ")(begin + a.chunk), all);\n", rows());
    int first = 0;
    for (std::size_t i = 0; i < k; ++i) {
      for (int r : phases_.phases[i].reductions)
        out += cat("  const float r", r, " = ", over(r, cat("threadIdx.x < gridDim.x ? a.parts[(", first++,
                   " * a.rows + line) * gridDim.x + threadIdx.x] : ", neutral(r))), ";\n");
      out += numbers(phases_.phases[i].behind);
    }
    if (k == phases_.phases.size()) return out + "  next_may_start();\n" + results("true") + "}\n";
    out += walk(phases_.phases[k]);
    for (int r : phases_.phases[k].reductions) {
      out += cat("  const float r", r, " = ", over(r, cat("s", r)), ";\n");
      out += cat("  if (threadIdx.x == 0) a.parts[(", first++, " * a.rows + line) * gridDim.x + blockIdx.x] = r", r, ";\n");
    }
    return out + "}\n";
  }

 private:
  std::string index() const { return row_.fits_32_bits(p_.box) ? "u32" : "i64"; }
  const ir::Instr& instr(int value) const { return p_.body.code[static_cast<std::size_t>(value) - p_.body.inputs.size()]; }
  const char* neutral(int r) const {
    const ir::Prim prim = instr(r).prim;
    return prim == ir::Prim::reduce_sum ? "0.f" : prim == ir::Prim::reduce_max ? "-INFINITY_F" : "INFINITY_F";
  }
  const char* operation(int r) const {
    const ir::Prim prim = instr(r).prim;
    return prim == ir::Prim::reduce_sum ? "Sum" : prim == ir::Prim::reduce_max ? "Max" : "Min";
  }
  std::string over_own_block(int r, const std::string& own) const {
    return cat("over_block<", operation(r), ", kThreads>(", own, ", ", neutral(r), ", room)");
  }
  // In the type of the body's value.
  std::string typed(int r, const std::string& all) const {
    const DType t = instr(r).dtype;
    return t == DType::f32 ? all : loaded(t, stored(t, all));
  }
  std::string over(int r, const std::string& own) const { return typed(r, over_own_block(r, own)); }
  // One barrier for all reductions of a walk; each has a slot of its own, so that none is written while others read.
  std::string over_blocks(const RowPhase& phase, int& slot) const {
    std::string out, back;
    for (int r : phase.reductions) {
      out += cat("  const float b", r, " = ", over_own_block(r, cat("s", r)), ";\n  if (threadIdx.x == 0) slots[", slot, "] = b", r, ";\n");
      back += cat("  const float r", r, " = ",
                  typed(r, cat("over_cluster<", operation(r), ", ", shape_.cluster, ">(slots + ", slot++, ")")), ";\n");
    }
    return out + "  cluster_sync();\n" + back;
  }

  std::string head(const char* name, int of_block, int of_row, int cluster = 1) const {
    return cat("ROW_KERNEL(", name, ", ", cluster > 1 ? cat("__cluster_dims__(", cluster, ", 1, 1)") : "", ", ", of_block,
               ") {\n  ENTER_ROW(", of_row, ")\n");
  }
  std::string vectors_of_row() {
    return cat("(", index(), ")([&] { const i64* n = a.m; (void)n; return ", row_.count_text(), " / ", width_, "; }())");
  }
  // Where the row's operands begin, and what it has one number of.
  std::string rows() {
    const std::string type = outer_.fits_32_bits(p_.box) ? "u32" : "i64";
    std::string out = cat("  const i64* n = a.n; (void)n;\n  ", type, " i = (", type, ")line; (void)i;\n", outer_.decode(type, 1));
    for (std::size_t o = 0; o < p_.in.size(); ++o)
      out += cat("  const ", storage_type(p_.in[o].dtype), "* p", o, " = (const ", storage_type(p_.in[o].dtype), "*)a.in[", o, "] + (",
                 outer_.offset(static_cast<int>(o)), ");\n");
    for (std::size_t o = 0; o < p_.out.size(); ++o)
      out += cat("  ", storage_type(p_.out[o].dtype), "* q", o, " = (", storage_type(p_.out[o].dtype), "*)a.out[", o, "] + (",
                 outer_.offset(static_cast<int>(p_.in.size() + o)), ");\n");
    for (std::size_t o = 0; o < p_.in.size(); ++o)
      if (p_.narrow_in[o])
        out += cat("  const ", compute_type(p_.in[o].dtype), " r", o, " = ", loaded(p_.in[o].dtype, cat("*p", o)), ";\n");
    return out + numbers(phases_.before);
  }
  std::string numbers(const RowPart& part) {
    if (part.computed.empty()) return "";
    std::vector<std::string> results;
    std::string out = print_body(part.body, names(part), cat("n", part.computed[0], "_"), "  ", results);
    for (std::size_t i = 0; i < results.size(); ++i)
      out += cat("  const ", compute_type(part.body.type_of(part.body.outputs[i])), " r", part.computed[i], " = ", results[i], ";\n");
    return out;
  }
  std::vector<std::string> names(const RowPart& part) const {
    std::vector<std::string> all;
    for (int v : part.given)
      all.push_back(phases_.narrow[static_cast<std::size_t>(v)]               ? cat("r", v)
                    : v >= static_cast<int>(p_.body.inputs.size()) ? cat("k", v, "[k][v]")   // kept
                                                                   : cat("e", v));
    return all;
  }

  Dim step(int operand) const { return row_.axes().empty() ? Dim(0) : row_.axes().back().strides[static_cast<std::size_t>(operand)]; }
  bool is_one(std::size_t o) const { return width_ > 1 && step(static_cast<int>(o)) == Dim(0); }   // for all elements of a vector
  std::string decode() {
    return cat("    const i64* n = a.m; (void)n;\n    ", index(), " i = at; (void)i;\n", row_.decode(index(), width_));
  }

  std::string read_operand(std::size_t o, const std::string& to) {
    const std::string from = cat("p", o, " + (", row_.offset(static_cast<int>(o)), ")");
    const Dim by = step(static_cast<int>(o));
    if (is_one(o)) return cat("    ", to, "[0] = *(", from, ");\n");
    if (width_ == 1 || by == Dim(1)) return cat("    read<", width_, ">(", from, ", ", to, ");\n");
    return cat("    #pragma unroll\n    for (int v = 0; v < ", width_, "; ++v) ", to, "[v] = (", from, ")[v * ",
               row_.stride_text(static_cast<int>(row_.axes().size()) - 1, static_cast<int>(o)), "];\n");
  }
  std::string room_of(std::size_t o, const std::string& steps) const {
    return cat("  ", storage_type(p_.in[o].dtype), " x", o, steps, "[", is_one(o) ? 1 : width_, "];\n");
  }
  std::int64_t vectors() const { return shape_.length / width_; }
  std::int64_t together() const { return std::int64_t{shape_.threads} * shape_.cluster; }   // vectors of a step
  std::int64_t steps() const { return ceil_div(vectors(), together()); }
  bool fills() const { return vectors() % together() == 0; }

  std::string hold() {
    std::string out;
    for (std::size_t o = 0; o < p_.in.size(); ++o)
      if (!p_.narrow_in[o]) out += room_of(o, cat("[", steps(), "]"));
    out += each_step();
    out += decode();
    for (std::size_t o = 0; o < p_.in.size(); ++o)
      if (!p_.narrow_in[o]) out += read_operand(o, cat("x", o, "[k]"));
    return out + "  }\n";
  }
  std::string each_step() const {
    return cat("  #pragma unroll\n  for (int k = 0; k < ", steps(), "; ++k) {\n    const ", index(),
               " at = ", shape_.cluster > 1 ? "begin + " : "", "k * kThreads + t;\n",
               fills() ? "" : cat("    if (at >= ", vectors(), ") continue;\n"));
  }
  // The loop over the row's vectors: their operands are in xO, or xO[k]. `part` follows for every element v; ends within that loop.
  std::string begin_walk(const RowPart& part, std::vector<std::string>& computed, const std::string& name, bool writes) {
    std::string out;
    const bool held = shape_.held;
    if (held) {
      out += each_step();
      if (writes) out += decode();
    } else {
      out += cat("  #pragma unroll ", writes ? 2 : 4, "\n  for (", index(), " at = begin + t; at < end; at += kThreads) {\n", decode());
      for (std::size_t o = 0; o < p_.in.size(); ++o)
        if (reads(part, o)) out += "  " + room_of(o, "") + read_operand(o, cat("x", o));
    }
    if (writes)
      for (std::size_t o = 0; o < p_.out.size(); ++o)
        if (!p_.narrow_out[o]) out += cat("    ", storage_type(p_.out[o].dtype), " y", o, "[", width_, "];\n");
    out += cat("    #pragma unroll\n    for (int v = 0; v < ", width_, "; ++v) {\n");
    for (std::size_t o = 0; o < p_.in.size(); ++o)
      if (reads(part, o))
        out += cat("      const ", compute_type(p_.in[o].dtype), " e", o, " = ",
                   loaded(p_.in[o].dtype, cat("x", o, held ? "[k]" : "", is_one(o) ? "[0]" : "[v]")), ";\n");
    return out + print_body(part.body, names(part), name, "      ", computed);
  }
  bool reads(const RowPart& part, std::size_t o) const {
    return !p_.narrow_in[o] && std::find(part.given.begin(), part.given.end(), static_cast<int>(o)) != part.given.end();
  }

  std::string walk(const RowPhase& phase) {
    std::string out;
    for (int r : phase.reductions) out += cat("  float s", r, " = ", neutral(r), ";\n");
    std::vector<std::string> computed;
    out += begin_walk(phase.elements, computed, "t", false);
    for (std::size_t i = 0; i < phase.kept.size(); ++i)
      out += cat("      k", phase.kept[i], "[k][v] = ", computed[phase.reductions.size() + i], ";\n");
    for (std::size_t i = 0; i < phase.reductions.size(); ++i)
      out += cat("      s", phase.reductions[i], " = ", operation(phase.reductions[i]), "::apply(s", phase.reductions[i], ", ", computed[i],
                 ");\n");
    return out + "    }\n  }\n";
  }
  std::string results(const char* there) {
    std::string out;
    if (!phases_.results.computed.empty()) {
      std::vector<std::string> computed;
      if (std::string_view(there) != "true") out += cat("  if (!", there, ") return;\n");
      out += begin_walk(phases_.results, computed, "t", true);
      std::size_t next = 0;
      std::string stores;
      for (std::size_t o = 0; o < p_.out.size(); ++o)
        if (!p_.narrow_out[o]) {
          out += cat("      y", o, "[v] = ", stored(p_.out[o].dtype, computed[next++]), ";\n");
          stores += store(o);
        }
      out += "    }\n" + stores + "  }\n";
    }
    for (std::size_t o = 0; o < p_.out.size(); ++o)
      if (p_.narrow_out[o])
        out += cat("  if (", there, " && t == 0 && begin == 0) *q", o, " = ", stored(p_.out[o].dtype, cat("r", p_.body.outputs[o])), ";\n");
    return out;
  }
  std::string store(std::size_t o) {
    const int operand = static_cast<int>(p_.in.size() + o);
    const std::string to = cat("q", o, " + (", row_.offset(operand), ")");
    if (width_ == 1 || step(operand) == Dim(1)) return cat("    write<", width_, ">(", to, ", y", o, ");\n");
    return cat("    #pragma unroll\n    for (int v = 0; v < ", width_, "; ++v) (", to, ")[v * ",
               row_.stride_text(static_cast<int>(row_.axes().size()) - 1, operand), "] = y", o, "[v];\n");
  }

  const RowRegionProblem& p_;
  const RowPhases& phases_;
  IndexSpace &outer_, &row_;
  const RowShape& shape_;
  int width_;
};

}  // namespace

Verdict can_generate(const RowRegionProblem& p) {
  const auto outer = pointers(p.in_outer, p.out_outer), row = pointers(p.in_row, p.out_row);
  if (Verdict v = can_walk(p.body, p.narrow_in); !v) return v;
  if (Verdict v = IndexSpace(p.outer, outer).verdict(); !v) return v;
  return IndexSpace(p.row, row).verdict();
}

RowRegionKernel generate_row_region(const RowRegionProblem& p) {
  IndexSpace outer(p.outer, pointers(p.in_outer, p.out_outer)), row(p.row, pointers(p.in_row, p.out_row));
  outer.merge(), row.merge();
  const RowShape shape = row_shape(p, outer, row);
  RowRegionKernel k{.source = {}, .outer = outer, .row = row, .width = shape.width, .threads = shape.threads,
                    .rows_per_block = shape.rows_per_block, .cluster = shape.cluster, .shares = !shape.held};
  std::string kernels;
  for (const bool vectors : {true, false}) {
    const char* suffix = vectors ? "vectors" : "singles";
    // One by one a row that registers hold in vectors would take as many steps as it has elements: it is walked.
    RowShape own = shape;
    own.held = shape.held && (vectors || shape.width == 1);
    if (!vectors) own.cluster = 1, own.held = own.held && shape.cluster == 1;
    const RowPhases phases = row_phases(p.body, p.narrow_in, own.held && own.keeps);
    k.walks = static_cast<int>(phases.phases.size()) + 1;
    Printer print(p, phases, outer, row, own, vectors ? shape.width : 1);
    kernels += print.whole(cat("whole_", suffix).c_str());
    for (std::size_t w = 0; k.shares && w < static_cast<std::size_t>(k.walks); ++w)
      kernels += print.shared(cat("walk", w, "_", suffix).c_str(), w);
  }
  k.outer = outer, k.row = row;
  const auto room = [](std::size_t n) { return std::max<std::size_t>(n, 1); };
  KernelText text;
  text.define("INPUTS", room(p.in.size())), text.define("OUTPUTS", p.out.size()), text.define("CLUSTER", shape.cluster);
  text.define("NUMBERS", room(outer.arguments().size())), text.define("ROW_NUMBERS", room(row.arguments().size()));
  k.source = text.of("region/row_region.cuh") + kernels;
  return k;
}

}  // namespace tenfold::backends::cuda
