// A plan as a library of another version of the form would have written the header.
#pragma once

#include <cstring>
#include <string>

#include "base/files/hash.h"
#include "plan/format.h"

namespace tenfold::builder {

inline std::string of_version(std::string plan, std::uint32_t version) {
  std::memcpy(plan.data() + 8, &version, sizeof version);
  std::uint32_t count = 0;
  std::memcpy(&count, plan.data() + 12, sizeof count);
  const std::string checked = plan.substr(0, 24) + plan.substr(plan::kHeaderBytes, plan::kTableEntryBytes * count);
  const std::uint64_t checksum = hash64(std::as_bytes(std::span(checked)));
  std::memcpy(plan.data() + 24, &checksum, sizeof checksum);
  return plan;
}

}  // namespace tenfold::builder
