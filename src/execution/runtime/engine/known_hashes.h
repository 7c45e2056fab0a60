// Hashes of large files that a plan cache remembers, so that gigabytes of weights are not read to find a plan.
#pragma once

#include <cstdint>
#include <string>

namespace tenfold::runtime {

// Which files' hashes are remembered: large ones, once they are older than the coarse clocks of file systems can tell apart.
struct RememberedFiles {
  std::uint64_t bytes = 64 << 20;
  std::int64_t seconds = 2;
};

// The size of the file and XXH3 of its bytes with two seeds, as builder::hash_of() has it: "12:0123...ef". It is kept in `folder`, and
// taken from there while device, inode, size and times of the file stay what they were. What others may have written there is not
// believed. Throws io.
std::string hash_of_file(const std::string& path, const std::string& folder, const RememberedFiles& remembered = {});

inline constexpr const char* kHashEnding = ".hash";   // of the files in `folder`

}  // namespace tenfold::runtime
