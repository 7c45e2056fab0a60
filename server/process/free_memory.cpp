#include "process/free_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace tenfold::server {
namespace {

constexpr std::chrono::seconds kInterval{5};     // giving back takes milliseconds, and pages that are taken again some more
constexpr std::size_t kWorthwhile = 32 << 20;

std::size_t resident() {
  std::size_t size = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// How much malloc has that nobody uses. It counts pages that were given back, too.
std::size_t unused() { return ::mallinfo2().fordblks; }

}  // namespace

FreeMemory::FreeMemory() : thread_([this] { watch(); }) {}

FreeMemory::~FreeMemory() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void FreeMemory::watch() {
  std::size_t least = resident();                // since something was given back
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kInterval, [this] { return ended_; })) {
    least = std::min(least, resident());
    if (resident() < least + kWorthwhile || unused() < kWorthwhile) continue;
    ::malloc_trim(0);
    least = resident();
  }
}

}  // namespace tenfold::server
