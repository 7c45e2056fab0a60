// Work that may crash, hang or fill the memory, in processes of its own: what one was doing when it died is known to this one.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

namespace tenfold {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;   // a sanitizer's own memory is far more than any bound
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// Shared with the process that works.
struct BatchState {
  std::size_t next = 0;      // the piece of work that comes
  int counts[8] = {};        // the work's own
  int complaints = 0;
  char doing[4000] = "";
  char said[40000] = "";     // complaints, a line each

  void tell(const std::string& what) {
    std::strncpy(doing, what.c_str(), sizeof doing - 1);
    const itimerval limit{{}, {kSanitized ? 120 : 20, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);   // of the processor's time: on a busy machine hours may pass
    alarm(600);                                // what waits for ever takes none
  }
  void complain(const std::string& what) {
    if (++complaints > 60) return;
    const std::size_t length = std::strlen(said);
    if (length + what.size() + 2 < sizeof said) std::strcpy(said + length, (what + "\n").c_str());
  }
};

inline void bound_memory() {
  if (kSanitized) return;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto bound = static_cast<rlim_t>(pages * 4096 + (std::int64_t{1} << 30));
  const rlimit limit{bound, bound};
  setrlimit(RLIMIT_AS, &limit);
}

// Does pieces 0 to `count` of the work. One that dies is a failure of the test, and the next ones are done all the same.
inline void in_batches(std::size_t count, const std::function<void(std::size_t, BatchState&)>& work, int (&counts)[8]) {
  void* const memory = mmap(nullptr, sizeof(BatchState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* progress = new (memory) BatchState;
  for (int died = 0; progress->next < count && died < 20;) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bound_memory();
      while (progress->next < count) {
        work(progress->next, *progress);
        ++progress->next;
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++died, ++progress->next;
    ADD_FAILURE() << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended") << " at " << progress->doing;
  }
  EXPECT_EQ(progress->complaints, 0) << progress->said;
  std::copy(std::begin(progress->counts), std::end(progress->counts), std::begin(counts));
  munmap(memory, sizeof(BatchState));
}

}  // namespace tenfold
