// ServedInstance::run(): each request ends once, by its answer or by an error of its own.
#include "served_model/instance.h"

#include <algorithm>

#include "tenfold/internal/as_error.h"

namespace tenfold {

using namespace served_model;

namespace {

constexpr std::size_t kMaxContexts = 8;   // of engines for several shapes; each has memory of its own

void end_with(ServedRequest& request, const Error& error) noexcept { request.finish({&error, nullptr}); }

// Whether one request of a batch may be the cause, so that the others are worth another run.
bool may_be_one_requests(ErrorKind kind) {
  return kind == ErrorKind::invalid_argument || kind == ErrorKind::internal || kind == ErrorKind::invalid_model;
}

void run_all(ServedInstance::Impl& instance, std::vector<Group> groups, std::vector<BatchRun>* runs) {
  for (Group& group : groups) {
    try {
      const BatchRun run = as_error([&] { return instance.run_group(group); });
      if (runs) runs->push_back(run);
    } catch (const Error& error) {
      if (group.size() > 1 && may_be_one_requests(error.kind())) {
        std::vector<Group> alone;
        for (CheckedRequest& request : group) alone.push_back({std::move(request)});
        run_all(instance, std::move(alone), runs);
      } else {
        for (const CheckedRequest& request : group) end_with(*request.request, error);
      }
    }
  }
}

}  // namespace

ServedRequest::~ServedRequest() = default;

ServedInstance::Impl::Used& ServedInstance::Impl::context_for(const ServedEngine& engine) {
  const auto same = [&](const Used& used) { return used.served.number == engine.number; };
  auto found = std::find_if(contexts.begin(), contexts.end(), same);
  if (found == contexts.end()) {
    Used made{engine, 0, engine.engine.create_context(), {}, {}};
    made.given.resize(served->bindings.size());
    if (contexts.size() == kMaxContexts)
      contexts.erase(std::min_element(contexts.begin(), contexts.end(), [](const Used& a, const Used& b) { return a.when < b.when; }));
    contexts.push_back(std::move(made));
    found = contexts.end() - 1;
  }
  found->when = ++clock;
  return *found;
}

ServedInstance::ServedInstance(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServedInstance::~ServedInstance() = default;
const std::string& ServedInstance::device() const noexcept { return impl_->engines->device(); }

std::int64_t ServedInstance::memory_bytes() const noexcept {
  std::int64_t bytes = 0, shared = 0;
  for (const Impl::Used& used : impl_->contexts) {
    const EngineInfo& info = used.served.engine.info();
    bytes += info.on_gpu ? info.binding_bytes : info.scratch_bytes;
    bytes += info.arena_bytes;
    if (info.on_gpu) shared = std::max(shared, used.served.engine.gpu_bytes());
  }
  return std::max(bytes, shared);
}

void ServedInstance::run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept {
  std::vector<CheckedRequest> checked;
  for (ServedRequest* request : requests) {
    try {
      as_error([&] {
        if (request->cancelled()) throw Error(ErrorKind::cancelled, "the client has left");
        checked.push_back(check(*request, impl_->served->bindings, impl_->served->options.max_batch));
      });
    } catch (const Error& error) {
      end_with(*request, error);
    }
  }
  run_all(*impl_, grouped(std::move(checked), impl_->served->options.max_batch), runs);
}

}  // namespace tenfold
