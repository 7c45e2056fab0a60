#include "repository/repository.h"

#include <algorithm>

#include "observe/log.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

// Calls once, also for a task that is dropped because the server stops.
class Answer {
 public:
  explicit Answer(std::function<void(Status)> done) : done_(std::move(done)) {}
  ~Answer() {
    if (done_) done_({Code::unavailable, "the server is stopping"});
  }
  void give(Status status) { std::exchange(done_, nullptr)(std::move(status)); }

 private:
  std::function<void(Status)> done_;
};

Status bad_name(const std::string& name) {
  return {Code::invalid_argument, "failed to load or unload '" + name.substr(0, 80) +
                                      "': names of models have letters, digits, '.', '_' and '-', 255 at most, and begin with neither '.' "
                                      "nor '-'"};
}

std::string where_none(const std::string& name, const std::vector<std::string>& folders) {
  std::string list;
  for (const std::string& folder : folders) list += (list.empty() ? "" : ", ") + folder;
  return "failed to load '" + name + "', failed to poll from model repository: there is no folder '" + name + "' in " + list;
}

Fingerprint fingerprints(const std::vector<std::string>& folders) {
  Fingerprint all;
  for (const std::string& folder : folders) all.merge(fingerprint(folder));
  return all;
}

}  // namespace

Repository::Repository(Models& models, ModelDefaults defaults, RepositoryOptions options)
    : models_(models), defaults_(std::move(defaults)), options_(std::move(options)), loader_(std::make_unique<Loader>(options_.threads)) {}

Repository::~Repository() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (poller_.joinable()) poller_.join();
  loader_.reset();
}

std::map<std::string, std::string> Repository::at_start() const {
  std::map<std::string, std::string> wanted;
  if (options_.mode != ControlMode::by_request || std::count(options_.load.begin(), options_.load.end(), "*") > 0)
    for (const auto& [name, folders] : model_folders(options_.folders)) wanted[name];
  else
    for (const std::string& name : options_.load) wanted[name];
  for (const ModelChange& change : options_.before) {
    if (change.loaded) wanted[change.name] = change.config;
    else wanted.erase(change.name);
  }
  return wanted;
}

std::vector<StartRow> Repository::start() {
  const std::map<std::string, std::string> wanted = at_start();
  const auto by_client = [this](const std::string& name) {
    return std::any_of(options_.before.begin(), options_.before.end(), [&](const ModelChange& change) { return change.name == name; });
  };
  std::map<std::string, Status> results;
  std::mutex mutex;
  for (const auto& [name, config] : wanted) {
    if (!by_client(name)) models_.require(name);   // what clients had loaded may be gone, as after their load
    loader_->add(name, [&, name = name, config = config] {
      Status status = load_now(name, config);
      const std::lock_guard lock(mutex);
      results[name] = std::move(status);
    });
  }
  loader_->wait();
  if (wanted.empty() && options_.mode != ControlMode::by_request)
    for (const std::string& folder : options_.folders)
      log_warning("there is no model in " + folder + " (a model is NAME/1/model.onnx there)");
  std::vector<StartRow> rows;
  for (const auto& [name, status] : results) {
    for (const auto& [number, model] : models_.serving(name)) rows.push_back(row_of(*model));
    if (status) continue;
    rows.push_back(failed_row(name, status.message));
    rows.back().required = !by_client(name);
  }
  return rows;
}

Status Repository::allowed(const std::string& name) const {
  if (options_.mode == ControlMode::poll)
    return {Code::unavailable, "explicit model load / unload is not allowed if polling is enabled"};
  if (options_.mode == ControlMode::none)
    return {Code::unavailable, "explicit model load / unload is not allowed: start the server with --model-control-mode=explicit"};
  if (!is_model_name(name)) return bad_name(name);
  return {};
}

void Repository::load(const std::string& name, const std::string& config, std::function<void(Status)> done) {
  if (Status status = allowed(name); !status) return done(std::move(status));
  loader_->add(name, [this, name, config, answer = std::make_shared<Answer>(std::move(done))] {
    Status status = load_now(name, config);
    if (status) tell({name, true, config});
    answer->give(std::move(status));
  });
}

void Repository::unload(const std::string& name, std::function<void(Status)> done) {
  if (Status status = allowed(name); !status) return done(std::move(status));
  loader_->add(name, [this, name, answer = std::make_shared<Answer>(std::move(done))] {
    unload_now(name);
    tell({name, false, ""});
    answer->give({});
  });
}

void Repository::tell(const ModelChange& change) const {
  try {
    if (options_.changed) options_.changed(change);
  } catch (const std::exception& error) {
    log_error("model '" + change.name + "': a worker that takes this one's place will not know of it: " + error.what());
  }
}

void Repository::follow(const ModelChange& change, std::function<void()> done) {
  loader_->add(change.name, [this, change, answer = std::make_shared<Answer>([done = std::move(done)](const Status&) { done(); })] {
    if (change.loaded) load_now(change.name, change.config);
    else unload_now(change.name);
    answer->give({});
  });
}

// In a thread of the loader.
Status Repository::load_now(const std::string& name, const std::string& config) {
  if (!is_model_name(name)) return bad_name(name);
  FolderOptions folder{.config_name = options_.config_name, .config_json = config, .failed = {}};
  bool there = false;
  const auto failed = [&](Code code, const std::string& why) -> Status {
    log_error("model '" + name + "' failed to load" + (models_.serving(name).empty() ? "" : ", what served goes on") + ": " + why);
    for (const auto& [version, reason] : folder.failed) models_.set_state(name, version, ModelState::unavailable, reason);
    if (there) models_.set_failed(name, why);
    const bool whole = why.starts_with("failed to load") || why.starts_with("load failed");
    return {code, whole ? why : "failed to load '" + name + "', failed to poll from model repository: " + why};
  };
  try {
    const auto found = model_folders(options_.folders);
    const auto place = found.find(name);
    if (place == found.end()) return failed(Code::invalid_argument, where_none(name, options_.folders));
    there = true;
    LoadedVersions serving;
    {
      const Fingerprint files = fingerprints(place->second);
      const std::lock_guard lock(mutex_);
      tried_[name] = files;
      if (const auto old = serving_.find(name); old != serving_.end()) serving = old->second;
    }
    if (place->second.size() > 1)
      return failed(Code::invalid_argument, "it is in several repositories, so in none: " + place->second[0] + ", " + place->second[1] +
                                                "; remove one of them");
    serving = load_folder(name, place->second[0], defaults_, folder, serving,
                          [&](std::int64_t version, const std::string& text) {
                            models_.set_state(name, version, ModelState::loading, text);
                          });
    Models::Versions versions;
    for (const auto& [number, loaded] : serving) versions[number] = loaded.model;
    models_.publish(name, std::move(versions));
    const std::lock_guard lock(mutex_);
    serving_[name] = std::move(serving);
    return {};
  } catch (const std::bad_alloc&) {
    return failed(Code::unavailable, "out of memory");
  } catch (const std::exception& error) {
    return failed(Code::invalid_argument, error.what());
  }
}

void Repository::unload_now(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    serving_.erase(name);
    tried_.erase(name);
  }
  models_.publish(name, {});
}

std::vector<IndexRow> Repository::index(bool ready_only) {
  std::vector<IndexRow> rows = models_.index();
  std::map<std::string, std::vector<std::string>> found;
  try {
    found = model_folders(options_.folders);
  } catch (const Error&) {                       // a repository that has vanished: what is loaded serves on
  }
  for (const auto& [name, folders] : found)
    if (std::none_of(rows.begin(), rows.end(), [&](const IndexRow& row) { return row.name == name; })) rows.push_back({name, "", {}, ""});
  if (ready_only) std::erase_if(rows, [](const IndexRow& row) { return row.state != ModelState::ready; });
  std::stable_sort(rows.begin(), rows.end(), [](const IndexRow& a, const IndexRow& b) { return a.name < b.name; });
  return rows;
}

void Repository::watch() {
  if (options_.mode != ControlMode::poll) return;
  {
    const std::lock_guard lock(mutex_);
    seen_ = tried_;
  }
  poller_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, options_.poll_interval, [&] { return ended_; })) {
      lock.unlock();
      poll();
      lock.lock();
    }
  });
}

// A change is taken when the poll before saw the same: it has lain still for an interval.
void Repository::poll() {
  std::map<std::string, std::vector<std::string>> found;
  try {
    found = model_folders(options_.folders);
  } catch (const Error& error) {                 // nothing is unloaded because a mount is away
    return log_warning(error.what());
  }
  std::map<std::string, Fingerprint> now;
  for (const auto& [name, folders] : found)
    now[name] = fingerprints(folders);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, files] : now) {
    const auto before = seen_.find(name);
    const auto tried = tried_.find(name);
    const bool still = before != seen_.end() && before->second == files;
    if (!still || (tried != tried_.end() && tried->second == files) || loader_->busy(name)) continue;
    tried_[name] = files;
    loader_->add(name, [this, name] { load_now(name, ""); });
  }
  for (const auto& [name, serving] : serving_)
    if (!now.contains(name) && !seen_.contains(name) && !loader_->busy(name)) loader_->add(name, [this, name] { unload_now(name); });
  seen_ = std::move(now);
}

}  // namespace tenfold::server
