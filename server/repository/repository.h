// The models of one or several repositories: loaded at the start, by request, or when their files change.
#pragma once

#include <chrono>
#include <optional>

#include "config/start_table.h"
#include "repository/load_folder.h"
#include "repository/loader.h"

namespace tenfold::server {

enum class ControlMode : std::uint8_t { none, poll, by_request };

struct RepositoryOptions {
  std::vector<std::string> folders;
  ControlMode mode = ControlMode::none;
  std::vector<std::string> load;                 // by_request: at the start; "*": all
  std::chrono::milliseconds poll_interval{15'000};
  int threads = 1;
  std::string config_name;
  // What clients had loaded and unloaded before this process began.
  std::vector<ModelChange> before;
  // Called for each of their loads and unloads that is done, before they hear of it, in several threads. Null: nobody wants to know.
  std::function<void(const ModelChange&)> changed;
};

// A new version is loaded and warmed up before it takes the old one's place. One that fails changes nothing for requests.
class Repository final : public ModelControl {
 public:
  Repository(Models& models, ModelDefaults defaults, RepositoryOptions options);   // `models` owns it
  ~Repository() override;
  // Loads what the mode asks for, and returns when all is loaded or has failed. Throws Error for a repository that is not there.
  std::vector<StartRow> start();
  void watch();                                  // from now on, if the mode is poll

  std::vector<IndexRow> index(bool ready_only) override;
  void load(const std::string& name, const std::string& config, std::function<void(Status)> done) override;
  void unload(const std::string& name, std::function<void(Status)> done) override;
  void follow(const ModelChange& change, std::function<void()> done) override;

 private:
  Status load_now(const std::string& name, const std::string& config);
  void unload_now(const std::string& name);
  void poll();
  Status allowed(const std::string& name) const;
  std::map<std::string, std::string> at_start() const;   // configurations by name; empty: the file's
  void tell(const ModelChange& change) const;

  Models& models_;
  const ModelDefaults defaults_;
  const RepositoryOptions options_;
  std::mutex mutex_;                             // of what follows; never held while a model loads
  std::map<std::string, LoadedVersions> serving_;
  std::map<std::string, Fingerprint> tried_;     // files of a model when it was loaded last, or failed to
  std::map<std::string, Fingerprint> seen_;      // by the last poll
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread poller_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace tenfold::server
