#include "observe/trace_settings.h"

#include <charconv>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, why); }

template <class Number>
Number number(const std::string& name, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse("Unable to parse '" + name + "', got: " + text);
  return value;
}

const std::string& only(const std::string& name, const std::vector<std::string>& values) {
  if (values.size() != 1) refuse("'" + name + "' takes one value, not " + std::to_string(values.size()));
  return values[0];
}

bool timestamps_of(const std::vector<std::string>& levels) {
  bool timestamps = false;
  for (const std::string& level : levels) {
    if (level == "TENSORS")
      throw Error(ErrorKind::unsupported, "the trace level TENSORS is not supported, for traces hold no data of requests: use TIMESTAMPS");
    if (level != "TIMESTAMPS" && level != "OFF") refuse("the trace level is OFF or TIMESTAMPS, not '" + level + "'");
    timestamps = timestamps || level == "TIMESTAMPS";
  }
  return timestamps;
}

void apply(TraceSettings::Values& values, const std::string& name, const std::vector<std::string>& given) {
  if (name == "trace_file") throw Error(ErrorKind::unsupported, "trace file location can not be updated through network protocol");
  if (name == "trace_level") {
    values.timestamps.reset();
    if (!given.empty()) values.timestamps = timestamps_of(given);
  } else if (name == "trace_rate") {
    values.rate.reset();
    if (given.empty()) return;
    values.rate = number<std::uint32_t>(name, only(name, given));
    if (*values.rate == 0) refuse("Attempting to set invalid trace setting :sample rate must be non-zero");
  } else if (name == "trace_count") {
    values.count.reset();
    if (given.empty()) return;
    values.count = number<std::int64_t>(name, only(name, given));
    if (*values.count < -1) refuse("Unable to parse 'trace_count'. Expecting value >= -1, got:" + given[0]);
  }
}

}  // namespace

template <class Member>
auto TraceSettings::effective(const Group* model, Member member) const {
  if (model && model->values.*member) return model->values.*member;
  return all_.values.*member ? all_.values.*member : start_.*member;
}

void TraceSettings::start(const Values& values) {
  const std::lock_guard lock(mutex_);
  start_ = values;
}

void TraceSettings::update(const std::string& model, const TraceUpdate& update) {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(model);
  Values values = model.empty() ? all_.values : found == models_.end() ? Values() : found->second.values;
  for (const auto& [name, given] : update) apply(values, name, given);  // all of them, or none
  (model.empty() ? all_ : models_[model]).values = values;
}

TraceSettings::Shown TraceSettings::get(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(model);
  const Group* group = found == models_.end() ? nullptr : &found->second;
  Shown shown;
  shown.timestamps = effective(group, &Values::timestamps).value_or(shown.timestamps);
  shown.rate = effective(group, &Values::rate).value_or(shown.rate);
  shown.count = effective(group, &Values::count).value_or(shown.count);
  return shown;
}

bool TraceSettings::sample(const std::string& model, bool forced) {
  const Shown shown = get(model);
  if (!shown.timestamps || shown.count == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(model);
  Group& group = found == models_.end() ? all_ : found->second;
  if (++group.seen % shown.rate != 0 && !forced) return false;
  // The count that holds goes down, wherever it was set.
  std::optional<std::int64_t>& count = group.values.count ? group.values.count : all_.values.count ? all_.values.count : start_.count;
  if (count && *count == 0) return false;
  if (count && *count > 0) --*count;
  return true;
}

}  // namespace tenfold::server
