// Saving plans. The same plan gives the same bytes.
#pragma once

#include <string>

#include "plan/plan.h"

namespace tenfold::plan {

// Replaces `path` atomically; on failure an old file there stays as it was, and nothing new is left. Throws io.
void save(const Plan& plan, const std::string& path);
// The bytes that save() writes.
std::string serialize(const Plan& plan);

}  // namespace tenfold::plan
