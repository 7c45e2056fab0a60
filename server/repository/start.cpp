#include "repository/start.h"

#include <filesystem>

#include "config/configured_model.h"
#include "repository/repository.h"
#include "tenfold/error.h"
#include "tenfold/serving/served_encoder.h"

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
    watch_cache(options);
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

std::vector<StartRow> load_models(Models& models, const cli::ServeOptions& options, const std::string& path) {
  const ModelDefaults defaults = model_defaults(options);
  models.set_strict(options.repository.strict);
  std::vector<StartRow> rows;
  if (!path.empty()) rows.push_back(load_file(models, defaults, options.model.name.empty() ? name_of(path) : options.model.name, path));
  if (options.repository.folders.empty()) return rows;
  const auto repository = std::make_shared<Repository>(models, defaults, repository_options(options.repository));
  models.set_control(repository);
  for (StartRow& row : repository->start()) rows.push_back(std::move(row));
  repository->watch();
  return rows;
}

}  // namespace tenfold::server
