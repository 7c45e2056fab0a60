#include "core/pattern_engine.h"

#include <cstring>

#include "core/datatype.h"
#include "core/status.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

std::size_t bytes_of(const BindingInfo& binding) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : binding.shape) elements *= extent;
  return static_cast<std::size_t>(elements * bits(binding.dtype) / 8);
}

[[noreturn]] void fail(const Answer& answer) {
  switch (answer.status.code) {
    case tenfold::Status::not_ready: throw RequestError(Code::unavailable, "the pattern engine is not ready");
    case tenfold::Status::invalid_input:
    case tenfold::Status::bad_index:
    case tenfold::Status::too_large:
      throw RequestError(Code::invalid_argument, "the window has a value that the model cannot compute with: " +
                                                     std::string(name(answer.status.code)));
    default:
      throw RequestError(Code::internal, answer.not_finite ? "the output has NaN or infinity"
                                                           : "no engine answers: " + std::string(name(answer.status.code)));
  }
}

}  // namespace

void PatternEngine::open() {
  RunnerOptions options;
  options.not_finite = NotFinite::fail;
  auto runner = std::make_unique<LatencyRunner>(std::move(candidates_), options);
  for (const BindingInfo& binding : runner->bindings()) {
    if (binding.is_input && input_)
      throw Error(ErrorKind::unsupported, "--pattern-engine: the model has the inputs '" + input_->name + "' and '" + binding.name +
                                              "', but a window is one: serve it over the v2 protocol");
    const BindingInfo*& kept = binding.is_input ? input_ : output_;
    if (!kept) kept = &binding;
  }
  if (!input_ || !output_) throw Error(ErrorKind::unsupported, "--pattern-engine: the model has no input, or no output");
  for (const BindingInfo* one : {input_, output_})
    if (bits(one->dtype) < 8 || one->dtype == DType::f16 || one->dtype == DType::bf16)
      throw Error(ErrorKind::unsupported, "--pattern-engine: '" + one->name + "' is " + std::string(v2_name(one->dtype)) +
                                              ", which JSON cannot hold: give a model with FP32 or whole numbers");
  output_offset_ = runner->offset(static_cast<int>(output_ - runner->bindings().data()));
  in_.resize(static_cast<std::size_t>(runner->input_bytes()));
  out_.resize(static_cast<std::size_t>(runner->output_bytes()));
  runner_ = std::move(runner);
  open_ = true;
}

bool PatternEngine::ready(std::string* why) const {
  if (open_) return runner_->ready(why);
  if (why) *why = "the engine is being opened";
  return false;
}

WindowAnswer PatternEngine::infer(std::span<const std::byte> window) {
  if (!open_) throw RequestError(Code::unavailable, "the pattern engine is being opened");
  const std::lock_guard lock(mutex_);
  if (window.size() > in_.size()) throw RequestError(Code::invalid_argument, "the window is too large");
  std::memcpy(in_.data(), window.data(), window.size());
  const Answer answer = runner_->infer(in_.data(), out_.data());
  if (!answer.status) fail(answer);
  WindowAnswer made;
  const std::byte* const begin = out_.data() + output_offset_;
  made.output.assign(begin, begin + bytes_of(*output_));
  if (answer.candidate > 0) made.fallback = runner_->candidates()[static_cast<std::size_t>(answer.candidate)].name;
  return made;
}

}  // namespace tenfold::server
