// What a backend must keep: its interface's promises, and every operator's cases through each of its tactics, in every layout and
// config they offer, against the reference kernels. A new backend joins by a line in subjects().
#include <cmath>
#include <cstdlib>
#include <set>

#include "backends/case_share_for_tests.h"
#include "backends/cpu/feature_sets.h"
#include "backends/cuda/backend.h"
#include "backends/cuda/codegen/wgmma_text.h"
#include "backends/magnitude_for_tests.h"
#include "backends/tactic_cases_for_tests.h"
#include "backends/tactic_for_tests.h"
#include "backends/tactic_set.h"
#include "base/types/element.h"

namespace tenfold::backends {
namespace {

using testing::OnHost;
using testing::OnStream;
using testing::TacticRun;

struct Subject {
  const char* backend;
  std::uint32_t features = 0;
  bool computes = true;  // false: it only plans, and says so when it is asked to run
};

std::vector<Subject> subjects() {
  std::vector<Subject> all{{"null", 0, false}};
  try {
    for (const std::uint32_t features : testing::feature_sets()) all.push_back({"cpu", features});
  } catch (const Error&) {
    all.push_back({"cpu"});   // whose tests fail with the reason; thrown from here it would end the program
  }
  std::string lacks;
  if (!cuda_devices(lacks).empty()) all.push_back({"cuda"});
  return all;
}

// Relative to the largest element: what sums in another order, or in the type that the problem allows, may differ by.
double tolerance(const ir::OpDef& op, const Problem& problem, DType result, bool rounds_f32) {
  if (!is_float(result)) return 0;
  if (result == DType::bf16 || problem.numerics.allows(ir::Rounding::bf16)) return 1.6e-2;
  const bool tf32 = problem.numerics.round_to == ir::Rounding::tf32;   // as many bits of operands as f16 has
  if (result == DType::f16 || tf32) return std::max(op.tolerance, 2e-3);
  // A step's error into the next one, by weights of 1 here.
  const double carried = op.name == "RNN"                                                      ? 1e-3
                         : op.name == "RecurrentStack"                                         ? 5e-4
                         : op.name == "LSTM" || op.name == "GRU" || op.name == "RecurrentInt8" ? 2e-4
                                                                                               : 0;
  if (rounds_f32) return std::max({op.tolerance, carried, 5e-5});  // their own tests know better
  return problem.device->kind == "cuda" ? std::max(op.tolerance, 2e-5) : op.tolerance;  // GPUs' functions are right to two bits or so
}

void expect_agrees(const Tensor& got, const Tensor& reference, double tolerance, const std::string& what) {
  ASSERT_EQ(got.dtype(), reference.dtype()) << what;
  ASSERT_EQ(got.shape(), reference.shape()) << what;
  double largest = 1e-30;
  for (std::int64_t i = 0; i < reference.size(); ++i)
    if (std::isfinite(reference.as_double(i))) largest = std::max(largest, std::fabs(reference.as_double(i)));
  for (std::int64_t i = 0; i < reference.size(); ++i) {
    const double g = got.as_double(i), w = reference.as_double(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    ASSERT_LE(std::fabs(g - w), tolerance * largest) << what << " element " << i << ": " << g << " instead of " << w;
  }
}

// TENFOLD_OPS=Pad,TopK: only these operators; TENFOLD_TACTICS=native,conv_dnn: only these sources or tactics. So that a slow checker looks
// at what is new, or not into libraries.
bool listed(const char* variable, std::string_view name) {
  const char* list = std::getenv(variable);
  return !list || cat(",", list, ",").find(cat(",", name, ",")) != std::string::npos;
}

// Of an element's own sum of absolute values: what f32 may lose, and what operands in 16 bits and more may.
constexpr double kExact = 1e-5, kRounded = 1e-4;

class Conformance : public ::testing::TestWithParam<Subject> {
 protected:
  std::shared_ptr<Backend> backend = open_backend(GetParam().backend, GetParam().features);
  std::set<std::string> tried;  // tactics that accept some case, on this device or on one with every feature
  std::int64_t held = 0, held_rounded = 0;   // elements that were held to their magnitude, by tactics that round nothing and by others

  // TENFOLD_EVERY_LANE_ARRIVES=1: for compute-sanitizer's racecheck.
  void SetUp() override {
    const char* text = std::getenv("TENFOLD_EVERY_LANE_ARRIVES");
    cuda::let_every_lane_arrive(text && std::string_view(text) == "1");
  }

  // What a case is compared with: the reference kernels' results and, for f32, what each element is a sum of.
  struct Expected {
    std::vector<Tensor> results;
    std::optional<std::vector<testing::Held>> magnitudes;
  };
  Expected expected_value(const ir::OpDef& op, const ir::Node& node, const std::vector<Tensor>& operands,
                const std::vector<ops::RuntimeValue>& values) const {
    Expected w;
    for (const ops::RuntimeValue& v : ops::run_node(node, values)) w.results.push_back(std::get<Tensor>(v));
    std::vector<bool> missing;
    for (const ops::RuntimeValue& v : values) missing.push_back(!std::holds_alternative<Tensor>(v));
    if (!w.results.empty() && w.results[0].dtype() == DType::f32)
      w.magnitudes = testing::Magnitudes::of(op, node, operands, missing, backend->info().kind == "cpu");   // its tactics say if they round
    return w;
  }

  void expect_runs(const TacticRun& run, const Config& config, const std::vector<Tensor>& operands, const Expected& expected_value) {
    const std::vector<Tensor>& reference = expected_value.results;
    const std::string what = cat(run.tactic.name, " on ", run.problem.line());
    OnStream stream(*backend);
    std::vector<Tensor> got;
    try {
      got = run.run(config, operands, stream);
    } catch (const Error& e) {  // a library need not have all that its heuristics count
      if (e.kind() != ErrorKind::unsupported || run.tactic.source == Source::native) throw;
      return;
    }
    std::vector<Tensor> again = got;
    if (backend->info().kind == "cpu") {  // a CPU's workers are ours to choose
      testing::Backwards backwards;
      again = run.run(config, operands, backwards);
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (run.problem.out[i].missing) continue;
      expect_agrees(got[i], reference[i], tolerance(*run.problem.op, run.problem, reference[i].dtype(), run.tactic.rounds_f32), what);
      EXPECT_EQ(std::memcmp(got[i].raw(), again[i].raw(), static_cast<std::size_t>(got[i].bytes())), 0)
          << what << " depends on the workers";
      if (!expected_value.magnitudes || got[i].dtype() != DType::f32) continue;
      std::int64_t& counted = run.tactic.rounds_f32 ? held_rounded : held;
      EXPECT_EQ(testing::beyond_magnitude(got[i], (*expected_value.magnitudes)[i], counted, run.tactic.rounds_f32 ? kRounded : kExact), "")
          << what;
    }
  }

  void expect_refuses(const TacticRun& run, const Config& config) {
    const auto stream = backend->open_stream({.threads = 1});
    const auto kernel = testing::opened(run.tactic, run.problem, config);
    EXPECT_EQ(stream->launch(run.tactic, kernel.get(), {}), Status::device);
    EXPECT_NE(stream->error().find("computes nothing"), std::string_view::npos) << stream->error();
  }

  bool accepted_with_every_feature(const TacticRun& run) const {
    Problem problem = run.problem;
    DeviceInfo wide = backend->info();
    wide.features = ~0u;
    problem.device = &wide;
    return run.tactic.supports(problem).yes;
  }

  // What is unusual about a case, which is then run in the best config alone. misaligned: operands lie where vectors cannot be read.
  enum class Unusual { nothing, misaligned, nan };
  // Every thirteenth element of a tensor of floats, from one in the middle on.
  static void plant_nan(Tensor& t) {
    t = t.clone();
    for (std::int64_t i = t.size() / 2 % 13; i < t.size(); i += 13) store_double(t.dtype(), t.mutable_raw(), i, std::nan(""));
  }

  // `runs`: else it is only asked which tactics accept the case.
  void sweep(const ir::OpDef& op, const std::string& text, bool runs = true, Unusual what = Unusual::nothing) {
    const bool odd = what == Unusual::misaligned;
    SCOPED_TRACE(cat(op.name, " ", text));
    const bool is_case = op.name != "Region";   // else a graph, whose node has a body
    const ops::Case c = is_case ? ops::parse_case(op, text) : ops::Case{};
    const ir::Graph graph = testing::graph_of({&op, text});
    if (graph.nodes().size() != 1) return;
    std::vector<Tensor> operands;
    Expected reference;
    std::vector<ops::RuntimeValue> values;  // nothing where an operand is left out
    for (const ops::CaseOperand& o : c.operands) {
      operands.push_back(o.data);
      values.push_back(o.missing ? ops::RuntimeValue{} : ops::RuntimeValue{o.data});
    }
    for (const ir::Value* v : is_case ? std::vector<ir::Value*>{} : graph.inputs) {
      operands.push_back(ops::random_tensor(v->dtype(), ir::constants(v->dims()), operands.size() + 1));
      values.push_back(operands.back());
    }
    if (what == Unusual::nan) {
      if (operands.empty() || graph.inputs.empty() || !is_float(operands[0].dtype()) || bits(operands[0].dtype()) < 16) return;
      if (is_case && (c.operands[0].constant || c.operands[0].missing)) return;
      plant_nan(operands[0]), values[0] = operands[0];
    }
    for (const Tactic* tactic : TacticSet(*backend).of(op)) {
      if (!listed("TENFOLD_TACTICS", tactic->name) && !listed("TENFOLD_TACTICS", name(tactic->source))) continue;
      TacticRun run(*tactic, graph, backend->info().features);
      run.problem.device = &backend->info();
      run.problem.let_be_misaligned(odd);
      const Formats plain{std::vector<Layout>(run.problem.in.size()), std::vector<Layout>(run.problem.out.size())};
      for (const Formats& formats : tactic->formats ? tactic->formats(run.problem) : std::vector<Formats>{plain}) {
        ASSERT_EQ(formats.in.size(), run.problem.in.size()) << tactic->name;
        ASSERT_EQ(formats.out.size(), run.problem.out.size()) << tactic->name;
        run.use(formats);
        if (accepted_with_every_feature(run)) tried.insert(tactic->name);
        const Verdict verdict = tactic->supports(run.problem);
        EXPECT_NE(verdict.yes, !verdict.reason.empty()) << tactic->name << " refuses without a reason";
        if (!verdict || !runs) continue;
        std::vector<Config> configs = tactic->configs(run.problem);
        EXPECT_FALSE(configs.empty()) << tactic->name;
        EXPECT_EQ(configs, tactic->configs(run.problem)) << tactic->name << " offers other configs when it is asked again";
        if (what != Unusual::nothing) configs.resize(1);
        for (const Config& config : configs) {
          EXPECT_TRUE(!tactic->valid || tactic->valid(run.problem, config)) << tactic->name << " refuses a config that it offers";
          if (!GetParam().computes) {
            expect_refuses(run, config);
            continue;
          }
          if (std::getenv("TENFOLD_TELL")) std::fprintf(stderr, "%s: %s\n", tactic->name.data(), text.c_str());   // what a crash was in
          if (reference.results.empty()) reference = expected_value(op, *graph.nodes().front(), operands, values);
          if (what == Unusual::nan) reference.magnitudes.reset();   // which NaN has none of
          expect_runs(run, config, operands, reference);
        }
      }
    }
  }

  void sweep_all(Unusual what, bool (*takes)(const ir::OpDef&) = [](const ir::OpDef&) { return true; }) {
    testing::CaseShare share;
    const auto one = [&](const ir::OpDef& op, const std::string& text) {
      if (!listed("TENFOLD_OPS", op.name) || !takes(op)) return;
      ASSERT_NO_THROW(sweep(op, text, share.next(), what)) << op.name << " " << text;
    };
    for (const ir::OpDef* op : ir::Registry::builtin().all())
      for (const std::string& text : op->cases) one(*op, text);
    for (const testing::TacticCase& c : testing::tactic_cases()) one(*c.op, c.text);
  }
};

TEST_P(Conformance, TacticsAreComplete) {
  EXPECT_EQ(backend->name(), GetParam().backend);
  EXPECT_EQ(backend->info().kind, GetParam().backend);
  std::string before;
  for (const Tactic& t : backend->tactics()) {
    EXPECT_LT(before, t.name) << "tactics are sorted and have names of their own";
    before = t.name;
    EXPECT_TRUE(t.supports && t.configs && t.open && t.run) << t.name;
    EXPECT_EQ(!t.packed_bytes, !t.pack) << t.name;
    EXPECT_EQ(!t.packed_bytes, !t.unpack) << t.name << ": plans are re-tuned and refitted by unpacking";
    ASSERT_EQ(t.ops.size(), 1u) << t.name << " is for one operator in a backend's list";
    const std::string& op = t.ops[0].op;
    EXPECT_TRUE(op.starts_with("*") || ir::Registry::builtin().find(op)) << t.name << " is for '" << op << "', which is no operator";
  }
}

TEST_P(Conformance, MemoryAndStreams) {
  const auto memory = backend->memory().allocate(1000), nothing = backend->memory().allocate(0);
  EXPECT_NE(nothing, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
  try {
    backend->memory().allocate(std::int64_t{1} << 60);
    ADD_FAILURE() << "an exbibyte was granted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("1152921504606846976"), std::string::npos) << e.what();
  }
  const auto stream = backend->open_stream({.threads = 2});
  EXPECT_EQ(stream->wait(), Status::ok);
  std::vector<char> out(1000, 'x'), back(1000);
  const Status::Code expected = GetParam().computes ? Status::ok : Status::device;
  EXPECT_EQ(stream->copy(memory.get(), out.data(), 1000), expected);
  EXPECT_EQ(stream->copy(back.data(), memory.get(), 1000), expected);
  EXPECT_EQ(stream->wait(), Status::ok);
  EXPECT_EQ(out == back, GetParam().computes);
  EXPECT_EQ(stream->copy(nullptr, nullptr, 0), expected);   // what is empty may have no address
  EXPECT_EQ(stream->fill(nullptr, 0, 0), expected);
}

TEST_P(Conformance, EveryCaseAgreesWithTheReference) {
  const bool only = std::getenv("TENFOLD_OPS") || std::getenv("TENFOLD_TACTICS");
  sweep_all(Unusual::nothing);
  std::printf("%lld elements of f32 held to their magnitude, and %lld of tactics that round\n", static_cast<long long>(held),
              static_cast<long long>(held_rounded));
  EXPECT_TRUE(only || std::getenv("TENFOLD_CASES") || !GetParam().computes || held > 1000000) << "the rule for f32 held too little";
  for (const Tactic& tactic : backend->tactics())  // those of libraries may be without their library
    EXPECT_TRUE(only || tried.count(tactic.name) || tactic.source != Source::native)
        << tactic.name << " accepts no case: give it one in Tactic::cases";
}

// On a CPU operands lie anywhere anyway.
TEST_P(Conformance, EveryCaseAgreesAtMisalignedAddresses) {
  if (backend->info().kind != "cuda") GTEST_SKIP() << "no GPU's backend";
  sweep_all(Unusual::misaligned);
}

// Extremes, orders and norms of data with NaN. What products make of it is asked where they are tested: padding multiplies it by zero, as
// some taps of a Resize do. Bytes of a row that has no scale mean nothing, nor does a NaN that becomes an integer.
TEST_P(Conformance, NanIsWhereTheReferenceHasIt) {
  sweep_all(Unusual::nan, [](const ir::OpDef& op) {
    if (op.name == "Resize" || op.name == "QuantizeRows" || op.name == "Cast") return false;
    return op.traits.gemm_kind == ir::GemmKind::none && !op.traits.anchor && !op.traits.accumulates &&
           (!op.traits.permission.rounding || op.name == "FusedAttention");
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance, ::testing::ValuesIn(subjects()), [](const auto& info) {
  std::string name = info.param.backend;
  if (info.param.features) name += "_" + feature_text(info.param.features);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace tenfold::backends
