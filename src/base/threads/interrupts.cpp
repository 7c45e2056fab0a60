#include "tenfold/internal/interrupts.h"

#include <utility>

#include "base/check.h"

namespace tenfold {
namespace {
thread_local Interrupts* innermost = nullptr;
}

Interrupts::Interrupts(std::function<bool()> go_on) : go_on_(std::move(go_on)), outer_(std::exchange(innermost, this)) {}
Interrupts::~Interrupts() { innermost = outer_; }

void ask_whether_to_go_on() {
  if (innermost != nullptr) require(innermost->go_on_(), ErrorKind::cancelled, "the work was interrupted");
}

}  // namespace tenfold
