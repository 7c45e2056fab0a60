#include "text/encoders/pooled_context.h"

#include <algorithm>

#include "text/fail.h"
#include "text/transformers/plans.h"

namespace tenfold::encoders {

using tokenizing::fail;

namespace {

void need(const ExecutionContext& context, Status status) { transformers::need(context, status, "the encoder"); }

}  // namespace

std::unique_ptr<ExecutionContext> PooledContext::context() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto one = std::move(idle_.back());
      idle_.pop_back();
      return one;
    }
  }
  return engine_.create_context();
}

void PooledContext::make_contexts(int count) {
  std::vector<std::unique_ptr<ExecutionContext>> made;
  for (int i = 0; i < count; ++i) made.push_back(context());
  const std::lock_guard lock(mutex_);
  for (auto& one : made) idle_.push_back(std::move(one));
}

// `find` gives the memory of an input by its name. A GPU writes into memory of the context's, which is pinned.
template <class Find>
void PooledContext::run_on(const Shape& shape, const Find& find, std::size_t elements, const RunOptions& options, const Take& take) {
  thread_local std::vector<float> own;
  const bool pinned = engine_.info().on_gpu;
  std::span<float> out;
  auto context = this->context();
  const std::vector<BindingInfo>& bindings = engine_.bindings();
  for (int i = 0; i < static_cast<int>(bindings.size()); ++i) {
    const BindingInfo& binding = bindings[static_cast<std::size_t>(i)];
    if (!binding.is_input) {
      if (!pinned) own.assign(elements, 0.0f);
      out = {pinned ? static_cast<float*>(context->own_memory(i)) : own.data(), elements};
      if (!pinned) need(*context, context->bind(i, out.data(), static_cast<std::int64_t>(out.size_bytes())));
      continue;
    }
    need(*context, context->set_input_shape(i, shape));
    need(*context, context->bind(i, const_cast<void*>(find(binding.name)), byte_size(binding.dtype, element_count(shape))));
  }
  const Status status = context->run_with(options);
  if (status.code == Status::cancelled || status.code == Status::deadline) {
    give_back(std::move(context));   // nothing is wrong with it
    fail(ErrorKind::cancelled, status.code == Status::deadline ? "the deadline passed while the encoder ran" : "the call was cancelled");
  }
  need(*context, status);
  take(out);
  give_back(std::move(context));
}
void PooledContext::give_back(std::unique_ptr<ExecutionContext> context) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
}

void PooledContext::run(const std::int32_t* ids, const std::int32_t* types, const std::uint8_t* mask, std::int64_t texts,
                        std::int64_t tokens, std::size_t elements, const RunOptions& options, const Take& take) {
  const auto find = [&](const std::string& name) -> const void* {
    if (name == "mask") return mask;
    return name == "types" ? types : ids;
  };
  run_on({texts, tokens}, find, elements, options, take);
}

void PooledContext::pool(const float* vectors, const Shape& shape, std::span<float> out) {
  const auto find = [&](const std::string&) -> const void* { return vectors; };
  run_on(shape, find, out.size(), {}, [&](std::span<const float> rows) { std::copy(rows.begin(), rows.end(), out.begin()); });
}

}  // namespace tenfold::encoders
