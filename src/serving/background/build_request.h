// A build that another process is to do: the whole configuration, and the key that says whether it arrived as it was.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenfold/build.h"

namespace tenfold::background {

struct BuildRequest {
  std::int64_t requester = 0;               // the process that waits for the plan
  std::string key;                          // plan_key() of model and configuration, as the asker has it
  std::string path;                         // the model's file; empty: its bytes
  std::vector<std::string> library_places;  // where the asker looks for GPU libraries
  std::vector<std::string> library_files;   // of GPU libraries that the asker has opened
  std::vector<std::string> plugin_libraries;
  BuildConfig config;  // without what is of the asker's process
  std::span<const std::byte> model = {};
};

// Why a configuration cannot be handed to another process; empty: it can.
std::string why_not_elsewhere(const BuildConfig& config);
// A request but for the model's bytes, which come behind it.
std::string head_of(BuildRequest request);
// Refers to `bytes`. Throws internal for what is no request, or one of another version.
BuildRequest read_request(std::span<const std::byte> bytes);

// Answers are lines of this mark, a letter and text: of the log (L, severity), progress (P), an error (E, kind), the end (D). What
// has no mark was written by something else in the process.
inline constexpr char kMark = '\x01';
std::string answer(char what, int number, std::string_view text);
void write_all(int file, std::span<const std::byte> bytes);  // throws io

}  // namespace tenfold::background
