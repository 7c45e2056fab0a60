// What a limit of memory on a control group leaves. The kernel ends a process that goes beyond it, without a word: so it is asked first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenfold {

struct MemoryLimit {
  std::int64_t limit = 0, left = 0;   // bytes; what is used less the files that the kernel may drop
  std::string file;                   // that says so
};

// The level of the process's cgroup, or of its ancestors, that leaves least; nothing where none has a limit. Arguments as
// cgroup_folders() takes them; `swap_free`: bytes of swap, which count where the group may use it.
std::optional<MemoryLimit> min_memory_left(std::string_view membership, std::string_view root, std::int64_t swap_free);

// Before memory is taken: throws out_of_memory with both numbers where a cgroup's limit leaves less than `bytes`. `what` follows "bytes
// of". Small requests are added up, and looked at from 16 MiB on. Thread safe.
void expect_memory(std::int64_t bytes, const char* what);
// The same without a throw, asked now.
bool has_memory(std::int64_t bytes) noexcept;

}  // namespace tenfold
