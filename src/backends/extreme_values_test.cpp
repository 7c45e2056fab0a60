// The extremes of indices, pads, steps and other integers that a CPU's tactics read while they run: results, or a status that tells what
// is wrong, and nothing outside of the operands (which end at pages that may not be touched).
#include <cstdlib>

#include "backends/cpu/feature_sets.h"
#include "backends/tactic_cases_for_tests.h"
#include "backends/tactic_for_tests.h"
#include "backends/tactic_set.h"
#include "base/types/element.h"
#include "ops/body_prims.h"

namespace tenfold::backends {
namespace {

using testing::OnHost;
using testing::TacticRun;

// Whatever the tactic says of the operands is fine.
class AnyStatus final : public testing::Target {
 public:
  explicit AnyStatus(Parallel& parallel) : host_(parallel) {}
  void* place(const void* host, std::int64_t bytes, std::int64_t alignment, bool odd) override {
    return host_.place(host, bytes, alignment, odd);
  }
  void fetch(void* host, const void* placed, std::int64_t bytes) override { host_.fetch(host, placed, bytes); }
  Status::Code launch(const Tactic& tactic, const void* kernel, RunArgs args) override {
    host_.launch(tactic, kernel, args);
    return Status::ok;
  }
  int workers() const override { return host_.workers(); }

 private:
  OnHost host_;
};

Tensor with(const Tensor& operand, std::int64_t value, std::int64_t place) {   // place -1: all
  Tensor t(operand.dtype(), operand.shape());
  for (std::int64_t i = 0; i < t.size(); ++i)
    store_int(t.dtype(), t.mutable_raw(), i, place < 0 || place == i ? value : operand.as_int(i));
  return t;
}

std::vector<std::int64_t> extremes(DType type) {
  return {ops::min_integer(type), ops::min_integer(type) + 1, -1, 0, 1, ops::max_integer(type) - 1, ops::max_integer(type)};
}

// The graph has the shapes that the case's own integers give, and the run other integers, as with a plan that lies.
int sweep(const Tactic& tactic, const ir::OpDef& op, const std::string& text, const DeviceInfo& device) {
  const ops::Case c = ops::parse_case(op, text);
  const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, c);
  TacticRun run(tactic, graph, device.features);
  for (OperandDesc& d : run.problem.in) d.constant = false;
  run.problem.device = &device;
  const Formats plain{std::vector<Layout>(run.problem.in.size()), std::vector<Layout>(run.problem.out.size())};
  int runs = 0;
  for (const Formats& formats : tactic.formats ? tactic.formats(run.problem) : std::vector<Formats>{plain}) {
    run.use(formats);
    if (!tactic.supports(run.problem)) continue;
    const Config config = tactic.configs(run.problem).at(0);
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      const Tensor& own = c.operands[i].data;
      if (c.operands[i].missing || !is_integer(own.dtype()) || own.size() == 0 || own.size() > 64) continue;
      for (const std::int64_t value : extremes(own.dtype()))
        for (std::int64_t place = -1; place < std::min<std::int64_t>(own.size(), 8); ++place) {
          SCOPED_TRACE(cat(tactic.name, " ", op.name, " ", text, ": operand ", i, " with ", value, " at ", place));
          if (std::getenv("TENFOLD_TELL")) std::fprintf(stderr, "%s: %s, operand %zu\n", tactic.name.data(), text.c_str(), i);
          std::vector<Tensor> operands;
          for (const ops::CaseOperand& o : c.operands) operands.push_back(o.data);
          operands[i] = with(own, value, place);
          testing::Backwards workers;
          AnyStatus target(workers);
          run.run(config, operands, target);
          ++runs;
        }
    }
  }
  return runs;
}

TEST(ExtremeValues, DoNotLeadTacticsOutOfTheirOperands) {
  const std::shared_ptr<Backend> backend = open_backend("cpu", testing::feature_sets().back());
  int runs = 0;
  for (const ir::OpDef* op : ir::Registry::builtin().all())
    for (const Tactic* tactic : TacticSet(*backend).of(*op))
      for (const std::string& text : op->cases) runs += sweep(*tactic, *op, text, backend->info());
  EXPECT_GT(runs, 500);
}

}  // namespace
}  // namespace tenfold::backends
