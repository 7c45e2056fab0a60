// For tests: a GPU that is not there. Plans are made for it, kernels compiled, nothing runs.
#pragma once

#include <gtest/gtest.h>

#include "backends/backend.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::backends {
std::vector<Tactic> cuda_tactics();
}

namespace tenfold::builder::testing {

class PaperGpu final : public backends::Backend, backends::DeviceMemory, backends::KernelTiming {
 public:
  PaperGpu() : tactics_(backends::cuda_tactics()) {
    info_.kind = "cuda", info_.name = "a GPU on paper", info_.arch = 90, info_.ordinal = -90;
    std::sort(tactics_.begin(), tactics_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  std::string_view name() const override { return "cuda"; }
  const backends::DeviceInfo& info() const override { return info_; }
  const std::vector<backends::Tactic>& tactics() const override { return tactics_; }
  backends::DeviceMemory& memory() override { return *this; }
  std::unique_ptr<backends::Stream> open_stream(const backends::StreamOptions&) override {
    fail(ErrorKind::internal, "nothing runs on paper");
  }
  backends::KernelTiming& timing() override { return *this; }

 private:
  std::shared_ptr<void> allocate(std::int64_t) override { fail(ErrorKind::internal, "there is no memory on paper"); }
  bool host_reads() const override { return false; }
  double measure(backends::Stream&, const backends::Tactic&, const void*, const backends::RunArgs&,
                 const backends::MeasureBudget&) override {
    fail(ErrorKind::internal, "nothing runs on paper");
  }

  backends::DeviceInfo info_;
  std::vector<backends::Tactic> tactics_;
};

template <int kSeed = 0>
ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) {
                           return ops::random_tensor(d, s, n + kSeed);
                         }});
}
template <int kSeed = 0>
plan::Plan plan_of(const char* text, BuildConfig config, std::uint64_t choices = 7) {
  const ir::Graph graph = parse<kSeed>(text);
  config.random_choices = choices;  // no clock
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
  BuildReport report;
  return builder::build_plan(graph, config, "", std::make_shared<PaperGpu>(), report);
}

inline int host_steps(const plan::Plan& plan) {
  int count = 0;
  for (const plan::Step& s : plan.programs[0].steps) count += s.kind == plan::StepKind::host;
  return count;
}

}  // namespace tenfold::builder::testing
