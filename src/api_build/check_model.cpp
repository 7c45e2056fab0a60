// What is wrong with a model, as import finds it, and what plans cannot hold of it.
#include "builder/model/formats.h"
#include "builder/model/model.h"
#include "builder/program/limits.h"
#include "onnx_import/import.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/build.h"
#include "tenfold/model_error.h"

namespace tenfold {

namespace {

template <class Import>
std::vector<ModelProblem> check(const Import& import, const BuildConfig& config) {
  try {
    BuildConfig own = config;
    const ir::Graph graph = builder::import_source(import, builder::import_options(config), own);
    builder::check_defaults(graph, own);
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

}  // namespace

std::vector<ModelProblem> check_model(const std::string& path, const BuildConfig& config) {
  return check(
      [&](const onnx_import::ImportOptions& options) {
        return onnx_import::import_file(path, options, runtime::registry_with(config.plugins.get()));
      },
      config);
}
std::vector<ModelProblem> check_model(std::span<const std::byte> onnx, const BuildConfig& config) {
  return check(
      [&](const onnx_import::ImportOptions& options) {
        return onnx_import::import_bytes(onnx, options, {}, runtime::registry_with(config.plugins.get()));
      },
      config);
}

}  // namespace tenfold
