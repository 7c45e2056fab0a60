// Runs on messages.
#include "low_latency/runner/ready_context.h"

#include <cstring>
#include <utility>

#include "base/check.h"

namespace tenfold::low_latency {

ReadyContext::ReadyContext(const Engine& engine, const MessageLayout& layout) : context_(engine.create_context()) {
  context_->wait_how(Wait::spin);   // of a GPU
  const WindowRows rows = window_rows(engine);
  if (rows.input >= 0) past_ = PastRows(layout, rows, static_cast<std::byte*>(context_->own_memory(rows.input)));
  const auto places = [&](const std::vector<MessageTensor>& parts, std::vector<Copy>& copies) {
    for (const MessageTensor& p : parts)
      if (!past_ || p.binding != rows.input)
        copies.push_back({static_cast<std::byte*>(context_->own_memory(p.binding)), p.offset, p.bytes});
  };
  places(layout.inputs, inputs_), places(layout.outputs, outputs_);
  const Status status = context_->prepare();
  require(static_cast<bool>(status), ErrorKind::device, "the context cannot be prepared: ", context_->describe(status));
}

Status ReadyContext::run(const std::byte* input, std::byte* output, const RunOptions* options) noexcept {
  for (const Copy& c : inputs_) std::memcpy(c.memory, input + c.offset, static_cast<std::size_t>(c.bytes));
  if (past_) {
    const bool was_precomputed = std::exchange(early_, false);
    whole_ = !was_precomputed || !past_.same(input);
    if (whole_) past_.copy_past(input);
    past_.copy_newest(input);
    if (whole_ && was_precomputed)   // else the context would take the other window's half for this one's
      if (const Status status = context_->precompute(); !status) return status;
  }
  const Status status = options ? context_->run_with(*options) : context_->run();
  if (status)
    for (const Copy& c : outputs_) std::memcpy(output + c.offset, c.memory, static_cast<std::size_t>(c.bytes));
  return status;
}

Status ReadyContext::precompute(const std::byte* window) noexcept {
  early_ = false;
  past_.copy_past(window);
  return precompute_again();
}

Status ReadyContext::precompute_next() noexcept {
  early_ = false;
  past_.move_up();
  return precompute_again();
}

Status ReadyContext::precompute_again() noexcept {
  const Status status = context_->precompute();
  early_ = static_cast<bool>(status);
  return status;
}

}  // namespace tenfold::low_latency
