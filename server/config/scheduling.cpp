#include "config/scheduling.h"

#include <algorithm>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::uint64_t kLongest = std::uint64_t{1} << 50;   // microseconds, 35 years: beyond that, clocks overflow

std::chrono::microseconds microseconds(std::uint64_t value) {
  return std::chrono::microseconds(static_cast<std::int64_t>(std::min(value, kLongest)));
}

}  // namespace

void set_scheduling(inference::ModelConfig& config, QueueOptions& queue) {
  queue.max_batch = config.has_dynamic_batching() ? config.max_batch_size() : 0;
  if (!config.has_dynamic_batching()) return;
  auto& batching = *config.mutable_dynamic_batching();
  if (batching.priority_levels() > 0) throw Error(ErrorKind::unsupported, "field 'dynamic_batching.priority_levels' is not supported yet");
  if (batching.preferred_batch_size().empty())
    for (const std::int64_t rows : queue.preferred_rows)
      if (rows <= config.max_batch_size()) batching.add_preferred_batch_size(static_cast<std::int32_t>(rows));
  if (batching.preferred_batch_size().empty()) batching.add_preferred_batch_size(config.max_batch_size());
  queue.preferred_rows = {batching.preferred_batch_size().begin(), batching.preferred_batch_size().end()};
  if (batching.max_queue_delay_microseconds() == 0)
    batching.set_max_queue_delay_microseconds(static_cast<std::uint64_t>(queue.max_delay.count()));
  queue.max_delay = microseconds(batching.max_queue_delay_microseconds());
  const auto& policy = batching.default_queue_policy();
  if (policy.max_queue_size() > 0) queue.max_requests = policy.max_queue_size();
  if (policy.default_timeout_microseconds() > 0) queue.default_timeout = microseconds(policy.default_timeout_microseconds());
}

}  // namespace tenfold::server
