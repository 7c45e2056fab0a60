// A graph run node by node on the CPU, for those who want to see its values before a plan is made.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/builder.h"
#include "builder/precision/samples.h"
#include "plan/plan.h"
#include "tenfold/quantize.h"

namespace tenfold::builder {

class ObservedRuns {
 public:
  // How processors are shared: all of them in one run, or several runs side by side, which leaves none of them waiting for small layers.
  enum class Processors { of_one_run, side_by_side };
  // Nothing is fused and nothing rounded. `config` gives plug-ins and the CPU's features.
  ObservedRuns(ir::Graph graph, const std::vector<plan::Range>& ranges, const BuildConfig& config,
               Processors processors = Processors::of_one_run);
  ~ObservedRuns();

  // Of inputs, and of every result that is no view of another one, in the order of the graph; of `values` alone if there are any. Each is
  // shown once, or once each time that a loop makes it.
  using Look = std::function<void(std::string_view value, const Tensor& tensor)>;
  // The outputs. Throws as a run of an engine does; invalid_argument naming an input that is missing.
  std::vector<RuntimeValue> run(const InputSet& inputs);
  std::vector<RuntimeValue> run(const InputSet& inputs, const Look& look, const std::set<std::string, std::less<>>& values = {});

  // The outputs of each sample. Side by side, each value is looked at in the order of the samples and by one thread at a time, so that sums
  // come out alike on any number of processors; looks at two values may meet. What the first sample to fail throws comes through.
  std::vector<std::vector<RuntimeValue>> run_all(const Batch& batch, const Look& look = {},
                                                 const std::set<std::string, std::less<>>& values = {});
  const std::vector<std::string>& outputs() const;   // their names
  // Samples that keep all processors busy for a while.
  std::size_t good_batch() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A model as it was read has products and norms that no kernel computes, only the reference. Values keep their names, but for those
// between a convolution and the norm that scales it.
void lower_for_kernels(ir::Graph& graph);

// The values of a set by these names. Throws invalid_argument naming one that is missing.
std::vector<RuntimeValue> in_order(const InputSet& inputs, const std::vector<std::string>& names);

}  // namespace tenfold::builder
