#include "queue/waiting.h"

#include <algorithm>

namespace tenfold::serving_queue {
namespace {

[[noreturn]] void refuse(const std::string& what, std::uint32_t level, std::uint32_t levels) {
  throw Error(ErrorKind::invalid_argument, what + " " + std::to_string(level) + " is none of the queue's priority levels, which are " +
                                               (levels == 0 ? "none" : "1 to " + std::to_string(levels)));
}

}  // namespace

Waiting::Waiting(const QueueOptions& options) : options_(options) {
  const std::uint32_t levels = options.priority_levels;
  if (levels > 0 ? options.default_priority < 1 || options.default_priority > levels : options.default_priority > 0)
    refuse("the default priority", options.default_priority, levels);
  policies_.assign(levels + 1, {0, options.default_timeout, options.timeout_action, options.allow_timeout_override});
  sizes_.assign(levels + 1, 0);
  for (const auto& [level, policy] : options.level_policies) {
    if (level < 1 || level > levels) refuse("the policy's level", level, levels);
    policies_[level] = policy;
  }
}

std::uint32_t Waiting::level_of(std::uint32_t priority) const {
  return priority == 0 ? options_.default_priority : std::min(priority, options_.priority_levels);
}

void Waiting::set_deadline(Entry& entry, std::chrono::microseconds timeout) const {
  const QueuePolicy& policy = policies_[entry.level];
  const std::chrono::microseconds longest = policy.default_timeout;
  if (timeout.count() <= 0 || !policy.allow_timeout_override || (longest.count() > 0 && longest < timeout)) timeout = longest;
  if (timeout.count() > 0) entry.deadline = entry.arrival + timeout;
}

bool Waiting::has_place(std::uint32_t level) const {
  const std::size_t most = policies_[level].max_requests;
  return (options_.max_requests == 0 || size() < options_.max_requests) && (most == 0 || sizes_[level] < most);
}

void Waiting::insert(std::unique_ptr<Entry> entry) {
  const auto before = [](const std::unique_ptr<Entry>& a, const std::unique_ptr<Entry>& b) {
    return a->level != b->level ? a->level < b->level : a->late < b->late;
  };
  if (entries_.empty() || !before(entry, entries_.back())) return entries_.push_back(std::move(entry));
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, before), std::move(entry));
}

void Waiting::add(std::unique_ptr<Entry> entry) {
  next_deadline_ = std::min(next_deadline_, entry->deadline);
  ++sizes_[entry->level];
  insert(std::move(entry));
}

std::unique_ptr<Entry> Waiting::take(const ServedRequest& request) {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry->is(request); });
  if (at == entries_.end()) return nullptr;
  std::unique_ptr<Entry> taken = std::move(*at);
  entries_.erase(at);
  --sizes_[taken->level];
  return taken;
}

Entries Waiting::take(std::span<const std::size_t> places) {
  Entries taken;
  for (const std::size_t place : places) {
    --sizes_[entries_[place]->level];
    taken.push_back(std::move(entries_[place]));
  }
  if (places.back() + 1 == places.size()) entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(places.size()));
  else std::erase(entries_, nullptr);
  return taken;
}

Entries Waiting::expire(Clock::time_point now) {
  if (now < next_deadline_) return {};
  Entries expired, late;
  next_deadline_ = Clock::time_point::max();
  for (auto& entry : entries_) {
    if (entry->deadline > now) {
      next_deadline_ = std::min(next_deadline_, entry->deadline);
      continue;
    }
    const bool ends = policies_[entry->level].timeout_action == TimeoutAction::reject;
    if (ends) --sizes_[entry->level];
    (ends ? expired : late).push_back(std::move(entry));
  }
  std::erase(entries_, nullptr);
  for (auto& entry : late) {
    entry->late = true, entry->deadline = Clock::time_point::max();
    insert(std::move(entry));
  }
  return expired;
}

}  // namespace tenfold::serving_queue
