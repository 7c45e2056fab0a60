// Where the operands of a step may lie, for its tactic to know when it is opened: what it needs for odd addresses is made then, not in a
// run.
#pragma once

namespace tenfold::backends {

// Arenas, weights and bindings that a backend stages lie at multiples of 64 bytes; views into them need not.
inline constexpr int kVectorBytes = 16;

// While one lives, tactics that this thread opens, or asks for support, are for operands that may lie at no multiple of kVectorBytes
// (`odd`), or that never do. Without one they never do.
class OperandAddresses {
 public:
  explicit OperandAddresses(bool odd);
  ~OperandAddresses();
  OperandAddresses(const OperandAddresses&) = delete;
  OperandAddresses& operator=(const OperandAddresses&) = delete;

  static bool may_be_odd();   // for what this thread opens

 private:
  bool outer_;
};

}  // namespace tenfold::backends
