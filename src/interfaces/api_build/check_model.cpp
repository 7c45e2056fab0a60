// What is wrong with a model, as import finds it, and what plans cannot hold of it.
#include "builder/model/extent_limits.h"
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

template <class Import>
std::vector<ExtentLimit> limits(const Import& import, const BuildConfig& config) {
  try {
    BuildConfig own = config;
    own.log = {};   // the check has told what the import has to say
    return builder::extent_limits(builder::import_source(import, builder::import_options(own), own));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_model && error.kind() != ErrorKind::unsupported) throw;
    return {};
  }
}

auto import_of(const std::string& path, const BuildConfig& config) {
  return [&path, &config](const onnx_import::ImportOptions& options) {
    return onnx_import::import_file(path, options, runtime::registry_with(config.plugins.get()));
  };
}
auto import_of(std::span<const std::byte> onnx, const BuildConfig& config) {
  return [onnx, &config](const onnx_import::ImportOptions& options) {
    return onnx_import::import_bytes(onnx, options, {}, runtime::registry_with(config.plugins.get()));
  };
}

}  // namespace

std::vector<ModelProblem> check_model(const std::string& path, const BuildConfig& config) { return check(import_of(path, config), config); }
std::vector<ModelProblem> check_model(std::span<const std::byte> onnx, const BuildConfig& config) {
  return check(import_of(onnx, config), config);
}

std::vector<ExtentLimit> extent_limits(const std::string& path, const BuildConfig& config) {
  return limits(import_of(path, config), config);
}
std::vector<ExtentLimit> extent_limits(std::span<const std::byte> onnx, const BuildConfig& config) {
  return limits(import_of(onnx, config), config);
}

}  // namespace tenfold
