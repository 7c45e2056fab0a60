// A graph in f32 in pieces, cut behind single nodes. What a sample makes at the cuts is kept, so that a change of one node costs what
// comes behind it, and no more.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builder/builder.h"

namespace tenfold::builder {

class StoredRuns {
 public:
  // `graph` has the sizes of one shape of sample; `ranges` fix what of it is open. `nodes` are names, in the order of the graph.
  StoredRuns(ir::Graph graph, std::vector<plan::Range> ranges, const std::vector<std::string>& nodes, const BuildConfig& config);
  ~StoredRuns();
  // Bytes of what lies at the cuts; nothing if a value there is no tensor of a known size, and nothing can be kept.
  std::optional<std::int64_t> bytes() const;

  // Runs all pieces and keeps their values in place of those before. The graph's outputs.
  std::vector<RuntimeValue> take(const InputSet& sample);
  // The outputs for the sample that was taken, where piece `i` (which ends with node `i`) is computed by another one.
  class Other {
   public:
    ~Other();

   private:
    friend class StoredRuns;
    struct Impl;
    std::shared_ptr<Impl> impl_;
  };
  // The piece that ends with node `i`, changed. Values of the graph keep their names in it.
  Other other(std::size_t i, const std::function<void(ir::Graph& piece, ir::Node& node)>& change) const;
  std::vector<RuntimeValue> outputs_with(std::size_t i, Other& other) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::builder
