// Which neighbors among a model's nodes a build would take.
#include "base/check.h"
#include "base/files/file.h"
#include "onnx_import/import.h"
#include "tenfold/model_error.h"

namespace tenfold {
namespace {

std::vector<ModelPart> parts(std::int64_t nodes, const std::vector<ModelProblem>& problems) {
  std::vector<bool> supported(static_cast<std::size_t>(nodes), true);
  std::int64_t last = -1;   // of those that are listed
  for (const ModelProblem& problem : problems) {
    require(problem.node_index < nodes, ErrorKind::invalid_argument, "the model has ", nodes, " nodes, a problem is told of node ",
            problem.node_index, ": the list is another model's");
    last = std::max(last, problem.node_index);
    const bool whole = problem.node_index < 0 && problem.more == 0;
    for (std::int64_t n = whole ? 0 : last + 1; n < nodes && (whole || problem.more > 0); ++n)
      supported[static_cast<std::size_t>(n)] = false;
    if (problem.node_index >= 0) supported[static_cast<std::size_t>(problem.node_index)] = false;
  }
  std::vector<ModelPart> found;
  for (std::int64_t n = 0; n < nodes; ++n) {
    const bool mine = supported[static_cast<std::size_t>(n)];
    if (found.empty() || found.back().supported != mine) found.push_back({{}, mine});
    found.back().nodes.push_back(n);
  }
  return found;
}

}  // namespace

std::vector<ModelPart> model_parts(const std::string& path, const std::vector<ModelProblem>& problems) {
  return parts(onnx_import::count_nodes(MappedFile::read(path)->bytes()), problems);
}
std::vector<ModelPart> model_parts(std::span<const std::byte> onnx, const std::vector<ModelProblem>& problems) {
  return parts(onnx_import::count_nodes(onnx), problems);
}

}  // namespace tenfold
