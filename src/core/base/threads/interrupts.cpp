#include "tenfold/internal/interrupts.h"

#include <utility>

#include "base/check.h"

namespace tenfold {
namespace {
thread_local Interrupts* innermost = nullptr;
}

Interrupts::Interrupts(std::function<bool()> go_on, std::function<std::string()> why)
    : go_on_(std::move(go_on)), why_(std::move(why)), outer_(std::exchange(innermost, this)) {}
Interrupts::~Interrupts() { innermost = outer_; }

bool interruptible() noexcept { return innermost != nullptr; }
bool interrupted() noexcept { return who_ends_work() != nullptr; }

const Interrupts* who_ends_work() {
  for (const Interrupts* one = innermost; one != nullptr; one = one->outer_)
    if (!one->go_on_()) return one;
  return nullptr;
}

void throw_if_cancelled() {
  if (const Interrupts* one = who_ends_work()) fail(ErrorKind::cancelled, one->why_ ? one->why_() : "the work was interrupted");
}

}  // namespace tenfold
