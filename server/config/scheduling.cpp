#include "config/scheduling.h"

#include <algorithm>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::uint64_t kLongest = std::uint64_t{1} << 50;   // microseconds, 35 years: beyond that, clocks overflow
constexpr std::uint64_t kMaxLevels = 1 << 16;

std::chrono::microseconds microseconds(std::uint64_t value) {
  return std::chrono::microseconds(static_cast<std::int64_t>(std::min(value, kLongest)));
}

TimeoutAction action(const inference::ModelQueuePolicy& policy) {
  return policy.timeout_action() == inference::ModelQueuePolicy::DELAY ? TimeoutAction::delay : TimeoutAction::reject;
}

void set_levels(const inference::ModelDynamicBatching& batching, QueueOptions& queue) {
  if (batching.priority_levels() > kMaxLevels)
    throw Error(ErrorKind::invalid_argument, "dynamic_batching.priority_levels is " + std::to_string(batching.priority_levels()) +
                                                 ", expected " + std::to_string(kMaxLevels) + " at most");
  queue.priority_levels = static_cast<std::uint32_t>(batching.priority_levels());
  if (queue.priority_levels > 0) queue.default_priority = static_cast<std::uint32_t>(batching.default_priority_level());
  for (const auto& [level, policy] : batching.priority_queue_policy())
    queue.level_policies[static_cast<std::uint32_t>(level)] = {policy.max_queue_size(), microseconds(policy.default_timeout_microseconds()),
                                                               action(policy), policy.allow_timeout_override()};
}

}  // namespace

void set_scheduling(inference::ModelConfig& config, QueueOptions& queue) {
  queue.max_batch = config.has_dynamic_batching() ? config.max_batch_size() : 0;
  if (!config.has_dynamic_batching()) return;
  auto& batching = *config.mutable_dynamic_batching();
  if (batching.preferred_batch_size().empty())
    for (const std::int64_t rows : queue.preferred_rows)
      if (rows <= config.max_batch_size()) batching.add_preferred_batch_size(static_cast<std::int32_t>(rows));
  if (batching.preferred_batch_size().empty() && config.max_batch_size() > 0) batching.add_preferred_batch_size(config.max_batch_size());
  queue.preferred_rows = {batching.preferred_batch_size().begin(), batching.preferred_batch_size().end()};
  if (batching.max_queue_delay_microseconds() == 0)
    batching.set_max_queue_delay_microseconds(static_cast<std::uint64_t>(queue.max_delay.count()));
  queue.max_delay = microseconds(batching.max_queue_delay_microseconds());
  queue.preserve_ordering = batching.preserve_ordering();
  set_levels(batching, queue);
  if (!batching.has_default_queue_policy()) return;
  const auto& policy = batching.default_queue_policy();
  if (policy.max_queue_size() > 0) queue.max_requests = policy.max_queue_size();
  if (policy.default_timeout_microseconds() > 0) queue.default_timeout = microseconds(policy.default_timeout_microseconds());
  queue.timeout_action = action(policy);
  queue.allow_timeout_override = policy.allow_timeout_override();
}

}  // namespace tenfold::server
