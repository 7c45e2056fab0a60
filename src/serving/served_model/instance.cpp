// FileInstance: contexts by engine, which engine a group needs.
#include "served_model/instance.h"

#include <algorithm>

namespace tenfold {

using namespace served_model;

namespace {

constexpr std::size_t kMaxContexts = 8;   // of engines for several shapes; each has memory of its own

}  // namespace

ServedInstance::~ServedInstance() = default;

FileInstance::FileInstance(std::shared_ptr<const FileModel> model, std::shared_ptr<DeviceEngines> engines, std::string reason)
    : model_(std::move(model)), engines_(std::move(engines)), reason_(std::move(reason)) {}

UsedEngine& FileInstance::used(const ServedEngine& engine) {
  std::erase_if(contexts_, [&](const UsedEngine& used) { return used.served.way != engine.way; });
  const auto same = [&](const UsedEngine& used) { return used.served.number == engine.number; };
  auto found = std::find_if(contexts_.begin(), contexts_.end(), same);
  if (found == contexts_.end()) {
    const auto longest_ago = [](const UsedEngine& a, const UsedEngine& b) { return a.when < b.when; };
    if (contexts_.size() == kMaxContexts) contexts_.erase(std::min_element(contexts_.begin(), contexts_.end(), longest_ago));
    contexts_.push_back({engine, 0, engine.engine.create_context(), {}, {}});
    contexts_.back().given.resize(model_->bindings().size());
    found = contexts_.end() - 1;
  }
  found->when = ++clock_;
  return *found;
}

std::int64_t FileInstance::memory_bytes() const noexcept {
  std::int64_t bytes = 0, shared = 0;
  for (const UsedEngine& used : contexts_) {
    const EngineInfo& info = used.served.engine.info();
    bytes += info.arena_bytes + info.binding_bytes + (info.on_gpu ? 0 : info.scratch_bytes);
    if (info.on_gpu) shared = std::max(shared, used.served.engine.gpu_bytes());
  }
  return std::max(bytes, shared);
}

std::int64_t served_model::padded_rows(std::int64_t rows, std::int64_t max_batch) {
  std::int64_t power = 1;
  while (power < rows) power *= 2;
  const std::int64_t below = power / 4 * 3;
  return std::min(below >= rows ? below : power, max_batch);
}

std::int64_t FileInstance::rows_to_run(std::int64_t rows, bool on_gpu) const {
  return pads_ && on_gpu ? padded_rows(rows, model_->max_batch()) : rows;
}

std::vector<Shape> FileInstance::shapes_of(const RequestGroup& group, std::int64_t rows) const {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < group[0].inputs.size(); ++i) {
    const RequestInput* first = group[0].inputs[i];
    shapes.push_back(first ? Shape(first->shape.begin(), first->shape.end()) : model_->bindings()[i].shape);
    if (first && model_->max_batch() > 0) shapes.back()[0] = rows;
  }
  return shapes;
}

BatchRun FileInstance::run_group(const RequestGroup& group) {
  std::int64_t rows = 0;
  for (const CheckedRequest& request : group) rows += request.rows;
  for (;;) {
    const std::int64_t run_rows = rows_to_run(rows, is_gpu(engines_->device()));
    const ServedEngine engine = engines_->engine_for(shapes_of(group, run_rows));
    const bool on_gpu = is_gpu(engines_->device_of(engine));
    try {
      UsedEngine& in_use = used(engine);
      const BatchRun run = run_batch(*model_, in_use, group, run_rows, on_gpu);
      count(engine, group.size());
      if (on_gpu && !pads_) pads_ = may_be_padded(in_use);
      return run;
    } catch (const Error& error) {
      // On a GPU no request has an output yet; on a CPU they may.
      const bool of_device = error.kind() == ErrorKind::device || error.kind() == ErrorKind::out_of_memory;
      if (!of_device || !on_gpu || !engines_->report_failure(engine, error)) throw;
    }
  }
}

// Rows of zeros would count where values tell the sizes of outputs, and strings and defaults have none.
bool FileInstance::may_be_padded(const UsedEngine& engine) const {
  return model_->max_batch() > 0 &&
         std::none_of(engine.sized_by_data.begin(), engine.sized_by_data.end(), [](bool by_data) { return by_data; }) &&
         std::none_of(model_->bindings().begin(), model_->bindings().end(),
                      [](const BindingInfo& b) { return b.dtype == DType::string || b.has_default; });
}

void FileInstance::count(const ServedEngine& engine, std::size_t requests) const {
  if (engine.way > 0) return model_->count_fallback(engines_->name_of(engine), engines_->reason(), requests);
  if (!reason_.empty()) model_->count_fallback("cpu", reason_, requests);
}

void FileInstance::run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept {
  run_in_groups(requests, model_->bindings(), model_->max_batch(), [this](const RequestGroup& group) { return run_group(group); }, runs);
}

}  // namespace tenfold
