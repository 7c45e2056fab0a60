#include "tenfold/internal/interrupts.h"

#include <utility>

#include "base/check.h"

namespace tenfold {
namespace {
thread_local Interrupts* innermost = nullptr;
}

Interrupts::Interrupts(std::function<bool()> go_on) : go_on_(std::move(go_on)), outer_(std::exchange(innermost, this)) {}
Interrupts::~Interrupts() { innermost = outer_; }

bool interruptible() noexcept { return innermost != nullptr; }
bool interrupted() noexcept { return innermost != nullptr && !innermost->go_on_(); }

void ask_whether_to_go_on() { require(!interrupted(), ErrorKind::cancelled, "the work was interrupted"); }

}  // namespace tenfold
