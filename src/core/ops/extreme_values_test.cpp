// The extremes of every element type, in every place of the operands and attributes of every operator's cases: an answer or an Error,
// within bounds of time and memory. Arithmetic on them that overflows is found by UBSan, what traps ends the program.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/types/element.h"
#include "ops/body_prims.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::ops {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kBoundsMemory = false;   // of a sanitizer's own there is more
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kBoundsMemory = false;
#else
constexpr bool kBoundsMemory = true;
#endif
#else
constexpr bool kBoundsMemory = true;
#endif

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kGreatest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxPlaces = 8;   // of an operand; of larger ones the first and the last

// Lets the process have little more than it has now: an extent of 2^31 is an Error then, and not an answer of gigabytes.
class MemoryBound {
 public:
  MemoryBound() {
    if (!kBoundsMemory) return;
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    const rlimit bound{static_cast<rlim_t>(pages * 4096 + (std::int64_t{512} << 20)), before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &bound), 0);
  }
  ~MemoryBound() {
    if (kBoundsMemory) setrlimit(RLIMIT_AS, &before_);
  }
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  rlimit before_{};
};

// One element of the type each.
std::vector<Tensor> extremes(DType type) {
  std::vector<Tensor> all;
  const auto add = [&](auto store, auto value) {
    Tensor t(type, {1});
    store(type, t.mutable_raw(), 0, value);
    all.push_back(std::move(t));
  };
  // Where memory has no bound, an extent that it could just hold takes minutes.
  const auto is_tried = [](double v) { return kBoundsMemory || !(std::abs(v) > 1 << 16 && std::abs(v) < 1e15); };
  if (is_float(type)) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (double v : {std::nan(""), infinity, -infinity, -1.0, 0.0, 1e-30, 3e9, 9.3e18, -9.3e18, 3e38})
      if (is_tried(v)) add(store_double, v);
    return all;
  }
  if (!is_integer(type)) return all;
  const std::int64_t low = min_integer(type), high = max_integer(type);   // of u64, high is -1: its bits
  for (const std::int64_t v : {low, low + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, high - 1, high})
    if (is_tried(static_cast<double>(v))) add(store_int, v);
  return all;
}

void put(const Tensor& value, Tensor& to, std::int64_t i) {
  if (is_float(to.dtype())) store_double(to.dtype(), to.mutable_raw(), i, value.as_double(0));
  else store_int(to.dtype(), to.mutable_raw(), i, value.as_int(0));
}

// The operand with the value in all places, then in each alone unless `whole`.
std::vector<Tensor> placed(const Tensor& operand, const Tensor& value, bool whole = false) {
  std::vector<Tensor> all;
  const auto copy = [&] {
    Tensor t(operand.dtype(), operand.shape());
    for (std::int64_t i = 0; i < t.size(); ++i) {
      if (is_float(t.dtype())) store_double(t.dtype(), t.mutable_raw(), i, operand.as_double(i));
      else store_int(t.dtype(), t.mutable_raw(), i, operand.as_int(i));
    }
    return t;
  };
  all.push_back(copy());
  for (std::int64_t i = 0; i < operand.size(); ++i) put(value, all[0], i);
  for (std::int64_t i = 0; i < operand.size() && operand.size() > 1 && !whole; ++i) {
    if (operand.size() > kMaxPlaces && i > 0 && i + 1 < operand.size()) continue;
    all.push_back(copy());
    put(value, all.back(), i);
  }
  return all;
}

struct Tally { int answers = 0, errors = 0; };

// Builds the graph and runs it, as a model with such constants and a run with such inputs do.
void expect_answer_or_error(const ir::OpDef& op, const Case& c, Tally& tally, const std::string& what) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const ir::Graph graph = case_graph(ir::Registry::builtin(), op, c);
    std::vector<RuntimeValue> inputs;
    for (const CaseOperand& operand : c.operands)
      if (!operand.missing && !operand.constant) inputs.emplace_back(operand.data);
    run_graph(graph, inputs);
    ++tally.answers;
  } catch (const Error&) {
    ++tally.errors;
  } catch (const std::bad_alloc&) {   // the program's interfaces make an Error of it
    ++tally.errors;
  } catch (const std::exception& e) {
    ADD_FAILURE() << what << ": " << e.what();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(seconds, 20) << what;
}

bool runs(const ir::OpDef& op) { return (op.reference || op.on_values) && op.returns; }

void sweep_operands(const ir::OpDef& op, const std::string& problem, Tally& tally) {
  const Case good = parse_case(op, problem);
  for (std::size_t i = 0; i < good.operands.size(); ++i) {
    const CaseOperand& operand = good.operands[i];
    if (operand.missing || operand.data.size() == 0 || operand.data.dtype() == DType::string) continue;
    // Sanitized code takes minutes for all; real numbers decide no sizes.
    const bool whole = !kBoundsMemory && is_float(operand.data.dtype());
    for (const Tensor& value : extremes(operand.data.dtype()))
      for (const Tensor& data : placed(operand.data, value, whole))
        for (const bool constant : {true, false}) {
          if (whole && constant) continue;
          Case bad = good;
          bad.operands[i].data = data, bad.operands[i].constant = constant;
          expect_answer_or_error(op, bad, tally, cat(op.name, " ", problem, ": operand ", i, " as ", data.size() > 16 ? "..." : "",
                                                     value.as_double(0), constant ? ", constant" : ""));
        }
  }
}

// Extents of 0, by which much divides.
void sweep_extents(const ir::OpDef& op, const std::string& problem, Tally& tally) {
  const Case good = parse_case(op, problem);
  const auto without = [&](const CaseOperand& operand, std::size_t d) {
    Shape shape = operand.data.shape();
    shape[d] = 0;
    return random_tensor(operand.data.dtype(), shape, 1);
  };
  std::size_t max = 0;
  for (const CaseOperand& operand : good.operands) max = std::max(max, operand.data.shape().size());
  for (std::size_t d = 0; d < max; ++d)
    for (std::size_t i = 0; i <= good.operands.size(); ++i) {   // of one operand, and of all that have the dim
      Case bad = good;
      for (std::size_t k = 0; k < good.operands.size(); ++k)
        if ((k == i || i == good.operands.size()) && !good.operands[k].missing && d < good.operands[k].data.shape().size())
          bad.operands[k].data = without(good.operands[k], d);
      for (CaseOperand& operand : bad.operands) operand.constant = operand.constant && operand.data.size() > 0;
      expect_answer_or_error(op, bad, tally, cat(op.name, " ", problem, ": no extent in dim ", d, " of operand ", i));
    }
}

// All at once: start, limit and step of a range, say.
void sweep_pairs(const ir::OpDef& op, const std::string& problem, Tally& tally) {
  const Case good = parse_case(op, problem);
  std::vector<std::size_t> scalars;
  for (std::size_t i = 0; i < good.operands.size(); ++i)
    if (!good.operands[i].missing && is_integer(good.operands[i].data.dtype()) && good.operands[i].data.size() <= 2) scalars.push_back(i);
  if (scalars.size() < 2 || scalars.size() > 4) return;
  const std::size_t values = extremes(good.operands[scalars[0]].data.dtype()).size();
  std::size_t combinations = 1;
  for (std::size_t k = 0; k < scalars.size(); ++k) combinations *= values;
  for (std::size_t n = 0; n < combinations; ++n)
    for (const bool constant : {true, false}) {
      Case bad = good;
      std::size_t rest = n;
      for (const std::size_t i : scalars) {
        const std::vector<Tensor> all = extremes(good.operands[i].data.dtype());
        bad.operands[i].data = placed(good.operands[i].data, all[rest % all.size()])[0];
        bad.operands[i].constant = constant;
        rest /= values;
      }
      expect_answer_or_error(op, bad, tally, cat(op.name, " ", problem, ": combination ", n, constant ? ", constant" : ""));
    }
}

// Lists as long as some attribute of an operator on `rank` dims is.
std::vector<ir::Ints> lists(const Case& good, const std::string& key, std::int64_t value) {
  std::vector<ir::Ints> all;
  if (good.attributes.has(key)) {
    const ir::Ints& given = good.attributes.ints(key);
    for (std::size_t i = 0; i < given.size(); ++i) {
      all.push_back(given);
      all.back()[i] = value;
    }
    return all;
  }
  const std::size_t rank = good.operands.empty() || good.operands[0].missing ? 1 : good.operands[0].data.shape().size();
  for (const std::size_t length : {std::size_t{1}, rank - 2, 2 * (rank - 2), rank, 2 * rank})
    if (length > 0 && length < 20) all.emplace_back(length, value);
  return all;
}

void sweep_attributes(const ir::OpDef& op, const std::string& problem, Tally& tally) {
  const Case good = parse_case(op, problem);
  std::vector<std::pair<std::string, ir::AttributeTypes::Kind>> known(op.optional_attributes.begin(), op.optional_attributes.end());
  for (const auto& [key, value] : op.attributes) known.emplace_back(key, value.index());
  for (const auto& [key, kind] : known) {
    std::vector<ir::Attribute> values;
    for (const std::int64_t v : {kMin, kMin + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, kGreatest - 1, kGreatest}) {
      if (kind == ir::kind_from_name("int")) values.emplace_back(v);
      if (kind != ir::kind_from_name("ints")) continue;
      for (ir::Ints& list : lists(good, key, v)) values.emplace_back(std::move(list));
    }
    if (kind == ir::kind_from_name("float"))
      for (const float v : {NAN, INFINITY, -INFINITY, -1.0f, 0.0f, 3e9f, 1e19f, 3e38f}) values.emplace_back(v);
    for (ir::Attribute& value : values) {
      Case bad = good;
      const std::string text = ir::text(value);
      bad.attributes.set(key, std::move(value));
      expect_answer_or_error(op, bad, tally, cat(op.name, " ", problem, ": ", key, "=", text));
    }
  }
}

template <class Sweep>
Tally swept(Sweep sweep) {
  const MemoryBound bound;
  Tally tally;
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    if (runs(*op))
      for (const std::string& problem : op->cases) sweep(*op, problem, tally);
  return tally;
}

TEST(ExtremeValues, OfOperandsGiveAnAnswerOrAnError) {
  const Tally tally = swept(sweep_operands);
  EXPECT_GT(tally.answers, 10000);
  EXPECT_GT(tally.errors, 2000);
}

TEST(ExtremeValues, OfAllSmallOperandsAtOnceGiveAnAnswerOrAnError) {
  const Tally tally = swept(sweep_pairs);
  EXPECT_GT(tally.answers, 500);
  EXPECT_GT(tally.errors, 500);
}

TEST(ExtremeValues, OfExtentsGiveAnAnswerOrAnError) {
  const Tally tally = swept(sweep_extents);
  EXPECT_GT(tally.answers, 500);
  EXPECT_GT(tally.errors, 500);
}

TEST(ExtremeValues, OfAttributesGiveAnAnswerOrAnError) {
  const Tally tally = swept(sweep_attributes);
  EXPECT_GT(tally.answers, 2000);
  EXPECT_GT(tally.errors, 2000);
}

}  // namespace
}  // namespace tenfold::ops
