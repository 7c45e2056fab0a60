// An instance of a file's model: a context of each engine that it used lately.
#pragma once

#include "served_model/impl.h"
#include "tenfold/serving/request_groups.h"

namespace tenfold::served_model {

// An engine that an instance uses, with what it needs for runs.
struct UsedEngine {
  ServedEngine served;
  std::uint64_t when = 0;                        // by a clock of uses
  std::unique_ptr<ExecutionContext> context;
  std::vector<std::vector<std::byte>> given;     // by binding: values in place of a default, while a run reads them
  std::vector<bool> sized_by_data;               // by binding: its extents are known after a run only; empty: not looked at
};

class FileInstance final : public ServedInstance {
 public:
  // `reason`: why the engines are not those of the device that the instance was to have; empty: they are.
  FileInstance(std::shared_ptr<const FileModel> model, std::shared_ptr<DeviceEngines> engines, std::string reason);
  const std::string& device() const noexcept override { return engines_->device(); }
  std::int64_t memory_bytes() const noexcept override;
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept override;
  // Makes the context of the one engine for all requests, so that its memory is had before they come.
  void prepare() { used(engines_->engine_for({})); }

 private:
  UsedEngine& used(const ServedEngine& engine);
  BatchRun run_group(const RequestGroup& group);
  void count(const ServedEngine& engine, std::size_t requests) const;
  std::int64_t rows_to_run(std::int64_t rows, bool on_gpu) const;
  std::vector<Shape> shapes_of(const RequestGroup& group, std::int64_t rows) const;
  bool may_be_padded(const UsedEngine& engine) const;

  std::shared_ptr<const FileModel> model_;
  std::shared_ptr<DeviceEngines> engines_;
  std::string reason_;
  std::vector<UsedEngine> contexts_;
  std::uint64_t clock_ = 0;
  bool pads_ = false;                            // a batch may have rows of zeros; known after the first run
};

// The rows that a batch is padded to for a GPU, which records a graph for each number of rows: 1, 2, 3, 4, 6, 8, 12, 16 and so
// on, so that few are recorded and at most a third of a run is padding.
std::int64_t padded_rows(std::int64_t rows, std::int64_t max_batch);
// Runs a group in a context, with `run_rows` rows, and finishes its requests.
BatchRun run_batch(const FileModel& model, UsedEngine& used, const RequestGroup& group, std::int64_t run_rows, bool on_gpu);

}  // namespace tenfold::served_model
