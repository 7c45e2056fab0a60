// Everything that is wrong with a model, as data.
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

// One problem. Its strings stand as the model has them: escape them before you show them.
struct ModelProblem {
  ErrorKind kind = ErrorKind::invalid_model;   // or unsupported: legal, but Tenfold has no implementation
  // The node, after the subgraphs and functions around it: "if_3/then_branch/conv1". A node without a name is
  // "-> RESULT".
  std::string node;
  std::vector<std::string> outputs;            // names of the node's results, which tell nodes without a name apart
  std::string op;                              // operator; empty: the problem is no node's (an input, a weight)
  std::string domain;                          // of the operator; empty: ai.onnx
  int opset = 0;                               // version of the domain that the model imports; 0: none
  // Index of the node, or of the outermost node around it, in the file's graph, from 0. -1: the problem is no node's.
  std::int64_t node_index = -1;
  std::string message;                         // what is wrong, without the name of the node
  std::string hint;                            // what may mend it; may be empty
  std::int64_t more = 0;                       // in the last entry of a list that was cut off: how many are not listed
  // The problem in words: "node 'conv1' (Conv, opset 11): pads has 3 values".
  TENFOLD_API std::string text() const;
};

// How many problems are listed. One more entry says how many others there are.
inline constexpr std::size_t kMaxModelProblems = 1000;

// Thrown for a model that cannot be imported. Its kind() is unsupported if all of its problems are, else invalid_model.
class TENFOLD_API ModelError : public Error {
 public:
  ModelError(ErrorKind kind, const std::string& message, std::vector<ModelProblem> problems)
      : Error(kind, message), problems_(std::move(problems)) {}
  // In the order of the file. There is at least one.
  const std::vector<ModelProblem>& problems() const noexcept { return problems_; }

 private:
  std::vector<ModelProblem> problems_;
};

// Imports the file as a build with this configuration would (profiles fix shapes, plug-ins give operators), and builds
// nothing. Returns an empty list if the model is valid and supported. Throws Error (io, out_of_memory,
// invalid_argument) if nothing can be said of the model. Thread safe.
TENFOLD_API std::vector<ModelProblem> check_model(const std::string& path, const BuildConfig& config);
TENFOLD_API std::vector<ModelProblem> check_model(std::span<const std::byte> onnx, const BuildConfig& config);

// A dynamic dimension of an input that the model does not serve at every extent: often its exporter wrote the extents of an example
// into nodes, and the model says otherwise. Such a model is sound, and a build for an extent that fits works.
struct ExtentLimit {
  std::string input, dimension;                // the input, and the dimension's name
  std::vector<std::int64_t> fits;              // of 1 to 64, all that fit; if one at most does, a few up to 4096
  std::int64_t refused = 0;                    // an extent that does not fit
  std::string why;                             // what is wrong then, with the node
  TENFOLD_API std::string text() const;        // in words
};
// Looks for such dimensions, one at a time, the others left open; where none is found and no small extents fit, the
// others at 1. Dimensions that a profile of the configuration fixes are fixed. Empty for a model that check_model()
// refuses. Throws as check_model(). Thread safe.
TENFOLD_API std::vector<ExtentLimit> extent_limits(const std::string& path, const BuildConfig& config);
TENFOLD_API std::vector<ExtentLimit> extent_limits(std::span<const std::byte> onnx, const BuildConfig& config);

// Neighboring nodes of a model that a build would all take, or would all refuse. It serves callers that split a model
// between Tenfold and another engine.
struct ModelPart {
  std::vector<std::int64_t> nodes;             // indices in the file's graph, from 0, in its order
  bool supported = false;
};
// Divides all nodes of the model's own graph into such parts. If there is one part, the whole model is supported, or
// none of it is. `problems` are those of the same model. A node that reads the result of an unsupported node was judged
// by its operator and attributes alone, so a part that is cut out may still turn out otherwise. If a problem is no
// node's, no node is supported. If the list was cut off, no node after its end is.
TENFOLD_API std::vector<ModelPart> model_parts(const std::string& path, const std::vector<ModelProblem>& problems);
TENFOLD_API std::vector<ModelPart> model_parts(std::span<const std::byte> onnx, const std::vector<ModelProblem>& problems);

}  // namespace tenfold
