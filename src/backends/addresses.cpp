// The scope in which a step's tactic is opened.
#include "backends/addresses.h"

#include <utility>

namespace tenfold::backends {
namespace {
thread_local bool odd_here = false;
}

OperandAddresses::OperandAddresses(bool odd) : outer_(std::exchange(odd_here, odd)) {}
OperandAddresses::~OperandAddresses() { odd_here = outer_; }
bool OperandAddresses::may_be_odd() { return odd_here; }

}  // namespace tenfold::backends
