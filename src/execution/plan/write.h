// Saving plans. The same plan gives the same bytes.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "plan/plan.h"

namespace tenfold::plan {

// Replaces `path` atomically; on failure an old file there stays as it was, and nothing new is left. Throws io.
void save(const Plan& plan, const std::string& path);
// The bytes that save() writes; and piece after piece, the weights where they lie.
void write(const Plan& plan, const std::function<void(std::span<const std::byte>)>& put);
std::string serialize(const Plan& plan);
// The metadata section of them. Throws unsupported where a plan cannot hold something.
std::string write_metadata(const Plan& plan);

}  // namespace tenfold::plan
