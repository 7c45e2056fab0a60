// What is wrong with a model, all of it at once and as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/error.h"

namespace tenfold {

struct BuildConfig;

// One thing that is wrong. Strings come from the model as they are there: escape them before they are shown.
struct ModelProblem {
  ErrorKind kind = ErrorKind::invalid_model;   // or unsupported: legal, but Tenfold has no implementation
  // "if_3/then_branch/conv1": bodies and functions around it in front. A node without a name: "-> RESULT".
  std::string node;
  std::vector<std::string> outputs;            // names of the node's results, which tell nodes without a name apart
  std::string op;                              // operator; empty where the problem is no node's (an input, a weight, the model's frame)
  std::string domain;                          // of the operator; empty: ai.onnx
  int opset = 0;                               // version of the domain that the model imports; 0: none
  std::int64_t node_index = -1;                // in the file's graph, from 0: of the node, or of the outermost one around it; -1: no node's
  std::string message;                         // what is wrong, without the node
  std::string hint;                            // what may mend it; may be empty
  std::int64_t more = 0;                       // of the last entry of a list that is cut off: how many problems are not listed
  TENFOLD_API std::string text() const;                  // all of it in words: "node 'conv1' (Conv, opset 11): pads has 3 values"
};

inline constexpr std::size_t kMostModelProblems = 1000;   // that are listed; one entry behind them says how many more there are

// A model that cannot be imported. kind(): unsupported if all of its problems are, else invalid_model.
class TENFOLD_API ModelError : public Error {
 public:
  ModelError(ErrorKind kind, const std::string& message, std::vector<ModelProblem> problems)
      : Error(kind, message), problems_(std::move(problems)) {}
  const std::vector<ModelProblem>& problems() const noexcept { return problems_; }   // in the order of the file, at least one

 private:
  std::vector<ModelProblem> problems_;
};

// Imports the file as a build with this configuration would (profiles fix shapes, plug-ins give operators) and builds nothing. Empty: the
// model is sound and supported. Throws Error (io, out_of_memory, invalid_argument) where nothing can be said of the model. Thread safe.
TENFOLD_API std::vector<ModelProblem> check_model(const std::string& path, const BuildConfig& config);
TENFOLD_API std::vector<ModelProblem> check_model(std::span<const std::byte> onnx, const BuildConfig& config);

// Neighbours among a model's nodes that a build would take, or would not: for who cuts a model and gives the rest to another engine.
struct ModelPart {
  std::vector<std::int64_t> nodes;             // in the file's graph, from 0, in its order
  bool supported = false;
};
// All nodes of the model's own graph, in such parts; one part: the whole model is supported, or none of it is. `problems` as of the same
// model: what reads the results of an unsupported node has been judged by its operator and attributes alone, so that a part which is cut
// out may still turn out otherwise. Where a problem is no node's, no node is supported; nor is any behind a list that is cut off.
TENFOLD_API std::vector<ModelPart> model_parts(const std::string& path, const std::vector<ModelProblem>& problems);
TENFOLD_API std::vector<ModelPart> model_parts(std::span<const std::byte> onnx, const std::vector<ModelProblem>& problems);

}  // namespace tenfold
