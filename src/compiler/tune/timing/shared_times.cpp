// The public timing cache: files and texts that are none are errors here, where a build would only warn.
#include "tune/timing/shared_times.h"

#include <cstdio>
#include <set>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/hash.h"

namespace tenfold {
namespace {

// A log that turns its first warning into an error.
class Warned {
 public:
  Log log() {
    return Log([this](Severity severity, std::string_view text) {
      if (severity >= Severity::warning && text_.empty()) text_ = text;
    });
  }
  void raise(ErrorKind kind) const { require(text_.empty(), kind, text_); }

 private:
  std::string text_;
};

std::string public_key(const tune::TimingKey& key) {
  const Hash128 hash = hash128(key.machine + '\n' + key.problem);
  char text[35];
  std::snprintf(text, sizeof text, "0x%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return text;
}

std::shared_ptr<TimingCache> parsed(std::string_view text, const std::string& source) {
  Warned warned;
  const tune::TimingCache times = tune::TimingCache::parse(text, source, warned.log());
  warned.raise(ErrorKind::invalid_argument);
  auto cache = std::make_shared<TimingCache>();
  cache->impl().merge(times);
  return cache;
}

}  // namespace

TimingCache::TimingCache() : impl_(std::make_unique<Impl>()) {}
TimingCache::~TimingCache() = default;

std::shared_ptr<TimingCache> TimingCache::load(const std::string& path) { return parsed(read_file(path), path); }
std::shared_ptr<TimingCache> TimingCache::parse(std::string_view text) { return parsed(text, "the text given"); }

void TimingCache::save(const std::string& path) {
  Warned warned;
  const tune::TimingCache merged = impl_->copy().save(path, warned.log());
  warned.raise(ErrorKind::io);
  impl_->merge(merged);
}

void TimingCache::merge(const TimingCache& other) { impl_->merge(other.impl_->copy()); }
std::string TimingCache::text() const { return impl_->copy().text(); }
std::size_t TimingCache::size() const { return impl_->copy().size(); }

std::vector<std::string> TimingCache::keys() const {
  std::set<std::string> found;
  for (const tune::TimingCache times = impl_->copy(); const auto& [key, ns] : times.times()) found.insert(public_key(key));
  return {found.begin(), found.end()};
}

std::optional<TimingCache::Fastest> TimingCache::fastest(std::string_view key) const {
  std::optional<Fastest> min;
  for (const tune::TimingCache times = impl_->copy(); const auto& [each, ns] : times.times())
    if ((!min || ns < min->nanoseconds) && public_key(each) == key) min = {each.tactic, each.config, ns};
  return min;
}

}  // namespace tenfold
