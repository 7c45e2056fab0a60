// What is wrong with a model, as import finds it, and what plans cannot hold of it.
#include "builder/builder.h"
#include "builder/limits.h"
#include "onnx_import/import.h"
#include "runtime/plugins.h"
#include "tenfold/build.h"
#include "tenfold/model_error.h"

namespace tenfold {

std::vector<ModelProblem> check_model(const std::string& path, const BuildConfig& config) {
  try {
    const ir::Graph graph =
        onnx_import::import_file(path, builder::import_options(config), runtime::registry_with(config.plugins.get()));
    builder::check_limits(graph);   // a build refuses these, too
    return {};
  } catch (const ModelError& error) {
    return error.problems();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_model && error.kind() != ErrorKind::unsupported) throw;
    ModelProblem problem;
    problem.kind = error.kind(), problem.message = error.what();
    return {problem};
  }
}

}  // namespace tenfold
