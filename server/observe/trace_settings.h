// Which requests are traced: Triton's settings, for all models and for each, changed while the server runs.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenfold::server {

// A change of settings by name; a setting without values takes that of all models, or of the start. Names that are not known change
// nothing, as in Triton.
using TraceUpdate = std::map<std::string, std::vector<std::string>>;

// Thread safe.
class TraceSettings {
 public:
  struct Values {
    std::optional<bool> timestamps;     // the level: TIMESTAMPS or OFF
    std::optional<std::uint32_t> rate;  // one request of so many
    std::optional<std::int64_t> count;  // how many are still to be traced; -1: any number
  };
  struct Shown {
    bool timestamps = false;
    std::uint32_t rate = 1000;
    std::int64_t count = -1;
  };

  void start(const Values& values);  // what holds where nothing else was set
  // An empty model: of all that have none of their own. Throws Error: invalid_argument in Triton's words, unsupported.
  void update(const std::string& model, const TraceUpdate& update);
  Shown get(const std::string& model) const;
  // Whether a request is one of those that are traced. `forced`: whoever called traces it, so that its rate is not asked.
  bool sample(const std::string& model, bool forced);

 private:
  struct Group {
    Values values;
    std::uint64_t seen = 0;
  };
  template <class Member>
  auto effective(const Group* model, Member member) const;

  mutable std::mutex mutex_;
  Values start_;
  Group all_;
  std::map<std::string, Group> models_;
};

}  // namespace tenfold::server
