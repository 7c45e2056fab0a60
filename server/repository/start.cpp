#include "repository/start.h"

#include <cstdio>
#include <filesystem>

#include "config/build_options.h"
#include "config/config_text.h"
#include "config/configured_model.h"
#include "observe/log.h"
#include "repository/repository.h"
#include "tenfold/error.h"
#include "tenfold/serving/served_encoder.h"
#include "triton_backend/open_model.h"

namespace tenfold::server {
namespace {

namespace fs = std::filesystem;

// A file's name without its ending, a folder's whole.
std::string name_of(const std::string& path) {
  const fs::path clean = fs::path(path).lexically_normal();
  const fs::path last = clean.has_filename() ? clean.filename() : clean.parent_path().filename();
  return fs::is_directory(path) ? last.string() : last.stem().string();
}

StartRow load_file(Models& models, const ModelDefaults& defaults, const std::string& name, const std::string& path) {
  models.require(name);
  try {
    if (fs::is_directory(path) && !is_encoder_folder(path))
      throw Error(ErrorKind::unsupported, path + " is a folder without an encoder's config.json and tokenizer: give a model file, a "
                                                 "plan, an encoder's folder, or --model-repository=DIR");
    std::vector<std::string> lines;
    ModelOptions options = configured_model({}, name, 1, {"", "", path}, defaults, lines);
    for (const std::string& line : lines) log_info("model '" + name + "': " + line);
    watch_cache(options);
    const auto progress = [&models, name](const std::string& text) { models.set_state(name, 1, ModelState::loading, text); };
    progress("");
    const LoadProgress reported(options.served, progress);
    const auto model = std::make_shared<Model>(std::move(options));
    models.add(model);
    return row_of(*model);
  } catch (const std::exception& error) {
    models.set_failed(name, error.what());
    return failed_row(name, error.what());
  }
}

RepositoryOptions repository_options(const cli::RepositoryFlags& flags) {
  RepositoryOptions options;
  options.folders = flags.folders, options.load = flags.load, options.config_name = flags.config_name;
  if (flags.mode == "poll") options.mode = ControlMode::poll;
  if (flags.mode == "explicit") options.mode = ControlMode::by_request;
  options.poll_interval = std::chrono::seconds(flags.poll_s);
  options.threads = flags.threads > 0 ? flags.threads : 1;
  return options;
}

}  // namespace

std::vector<StartRow> load_models(Models& models, const cli::ServeOptions& options, const std::string& path,
                                  std::vector<ModelChange> before, std::function<void(const ModelChange&)> changed) {
  const ModelDefaults defaults = model_defaults(options);
  models.set_strict(options.repository.strict);
  std::vector<StartRow> rows;
  if (!path.empty()) rows.push_back(load_file(models, defaults, options.model.name.empty() ? name_of(path) : options.model.name, path));
  if (options.repository.folders.empty()) return rows;
  RepositoryOptions of_repository = repository_options(options.repository);
  of_repository.before = std::move(before), of_repository.changed = std::move(changed);
  const auto repository = std::make_shared<Repository>(models, defaults, std::move(of_repository));
  models.set_control(repository);
  for (StartRow& row : repository->start()) rows.push_back(std::move(row));
  repository->watch();
  return rows;
}

std::string completed_config(const cli::ServeOptions& options) {
  const std::string& path = options.print_model_config;
  const ModelDefaults defaults = model_defaults(options);
  std::vector<std::string> lines;
  ModelOptions model;
  if (!fs::is_directory(path) || is_encoder_folder(path)) {
    model = configured_model({}, name_of(path), 1, {"", "", path}, defaults, lines);
  } else {
    const inference::ModelConfig config = folder_config(path, options.repository.config_name);
    const std::int64_t version = chosen_versions(versions_in(path, lines), config, name_of(path)).back();
    model = configured_model(config, name_of(path), version, {path, path + "/" + std::to_string(version), ""}, defaults, lines);
  }
  triton::open_model(model.path, model.served);  // shapes that the model does not have are told here, too
  if (!model.not_batched.empty()) lines.push_back("requests are not batched: " + model.not_batched);
  for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  return config_text(*model.config);
}

}  // namespace tenfold::server
