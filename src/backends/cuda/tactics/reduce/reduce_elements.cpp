// reduce_elements: reductions that reduce_threads has no kernel for: of integers and f64, products, logarithms, of
// nothing at all. A thread for each result, or a block where much is reduced; both add up in an order that depends on
// the problem alone.
#include "backends/cuda/tactics/threads_common.h"
#include "backends/problems/reduce_axes.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

// What each operator does with an element x, what was found so far (r) and another part of it (e), and at the end.
struct Rule {
  const char *map = "x", *join = "r + e", *start = "0", *finish = "r";
  bool logarithm = false, shifted = false, own = false;  // own: nothing else computes it
};
const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> all{
      {"ReduceSum", {}},
      {"ReduceMean", {.finish = "r / (ACC)count"}},
      {"ReduceProd", {.join = "r * e", .start = "1"}},
      {"ReduceMax", {.join = "e > r || e != e ? e : r", .start = "LOWEST"}},
      {"ReduceMin", {.join = "e < r || e != e ? e : r", .start = "HIGHEST"}},
      {"ReduceL1", {.map = "x < (ACC)0 ? -x : x"}},
      {"ReduceL2", {.map = "x * x", .finish = "(ACC)sqrt((double)r)"}},
      {"ReduceSumSquare", {.map = "x * x"}},
      {"GlobalLpPool",
       {.map = "P == 1 ? fabs(x) : P == 2 ? x * x : pow(fabs(x), (ACC)P)",
        .finish = "P == 1 ? r : P == 2 ? sqrt(r) : pow(r, (ACC)1 / (ACC)P)",
        .own = true}},
      {"ReduceLogSum", {.finish = "(ACC)log(r)", .logarithm = true}},
      {"ReduceLogSumExp", {.map = "exp(x - most)", .finish = "(ACC)log(r) + most", .logarithm = true, .shifted = true}}};
  return all;
}

// The type that is added up in, and its ends.
struct Sums {
  std::string type, lowest, highest;
};
Sums sums_of(const Problem& p) {
  const DType t = p.in[0].dtype;
  const Rule& rule = rules().at(p.op->name);
  const bool real = rule.logarithm || p.op->name == "ReduceL2" || (p.op->name == "ReduceMean" && is_integer(t));
  if (is_short_float(t)) return {"float", "-INFINITY_F", "INFINITY_F"};
  if (is_float(t) || real) return {"double", "-(double)INFINITY_F", "(double)INFINITY_F"};
  if (t == DType::u64) return {"u64", "0ull", "~0ull"};
  return {"i64", "(-9223372036854775807ll - 1)", "9223372036854775807ll"};
}

// Whether sums of integers, or of their squares, stay below 2^53 whatever these are. Logarithms need no more than that.
bool is_held_by_double(const Problem& p) {
  const int max = p.op->name == "ReduceMean" ? 32 : p.op->name == "ReduceL2" ? 16 : 64;
  return max == 64 || (bits(p.in[0].dtype) <= max && p.bounds(ir::product(p.in[0].dims)).upper < std::int64_t{1} << 20);
}

Verdict supports(const Problem& p) {
  const DType t = p.in[0].dtype;
  if (!has_c_type(t) || t == DType::f8e4m3fn) return Verdict::no(cat("elements are ", name(t)));
  if (given(p, 1)) return Verdict::no("the axes are data");
  if (is_integer(t) && p.op->name == "ReduceMean" && p.bounds(ir::product(p.in[0].dims)).lower < 1) return Verdict::no("an integer mean "
          "over no elements");
  if (is_integer(t) && rules().at(p.op->name).start[0] > '9' && p.bounds(ir::product(p.in[0].dims)).lower < 1)
    return Verdict::no("an extreme of nothing");
  if (is_integer(t) && sums_of(p).type == std::string_view("double") && !is_held_by_double(p)) return Verdict::no("sums past 53 bits");
  if (t == DType::u64 && p.op->name == "ReduceL1") return Verdict::no("the reference takes the sum for signed");
  const bool plain = p.op->name != "ReduceProd" && !rules().at(p.op->name).logarithm && !rules().at(p.op->name).own;
  if (plain && is_short_float(t) && !p.in[0].dims.empty() && reduced_axes(p) != 0 &&
      p.bounds(ir::product(p.in[0].dims)).upper < std::int64_t{1} << 31)
    return Verdict::no("floats have faster kernels");
  if (p.bounds(ir::product(p.out[0].dims)).upper >= std::int64_t{1} << 31) return Verdict::no("too many results");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const Rule& rule = rules().at(p.op->name);
  const Sums sums = sums_of(p);
  KernelText text;
  text.define("AXES", reduced_axes(p)), text.define("ACC", sums.type), text.define("LOWEST", sums.lowest);
  text.define("HIGHEST", sums.highest), text.define("MAP", rule.map), text.define("JOIN", rule.join), text.define("START", rule.start);
  text.define("FINISH", rule.finish), text.define("SHIFTED", rule.shifted ? 1 : 0), text.define("P", p.attributes->integer("p", 1));
  return std::make_shared<OpenThreads>(p, opening, "reduce/reduce_elements.cu", text, std::vector<std::string>{"thread", "block"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const std::int64_t results = elements_of(args.out[0]), each = results > 0 ? elements_of(args.in[0]) / results : 0;
  constexpr std::int64_t kManyResults = 1 << 16;
  const bool blocks = each >= kThreadsOfBlock && results < kManyResults;
  return static_cast<const OpenThreads*>(self)->run(args, blocks ? 1 : 0, results, blocks ? results : -1);
}

}  // namespace

Tactic cuda_reduce_elements() {
  return {.name = "reduce_elements",
          .ops = {{"GlobalLpPool", "global_lp_pool_elements"},
                  {"ReduceL1", "reduce_l1_elements"},
                  {"ReduceL2", "reduce_l2_elements"},
                  {"ReduceLogSum", "reduce_log_sum_elements"},
                  {"ReduceLogSumExp", "reduce_log_sum_exp_elements"},
                  {"ReduceMax", "reduce_max_elements"},
                  {"ReduceMean", "reduce_mean_elements"},
                  {"ReduceMin", "reduce_min_elements"},
                  {"ReduceProd", "reduce_prod_elements"},
                  {"ReduceSum", "reduce_sum_elements"},
                  {"ReduceSumSquare", "reduce_sum_square_elements"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ReduceProd f32[3,400](0.9,1.1) axes=[1]",
                    "ReduceProd i32[5,300,2](-3,3) axes=[1] keepdims=0",
                    "ReduceLogSumExp f32[2,1003](-30,30) axes=[1]",
                    "ReduceSum i64[3,1000,2] axes=[0,1]",
                    "ReduceMax f64[3,1000] axes=[1]"}};
}

}  // namespace tenfold::backends
