// What a ServedInstance has: a context of each engine that it used lately.
#pragma once

#include "served_model/impl.h"
#include "served_model/requests.h"

namespace tenfold {

struct ServedInstance::Impl {
  struct Used {
    ServedEngine served;
    std::uint64_t when = 0;                      // by a clock of uses
    std::unique_ptr<ExecutionContext> context;
    std::vector<std::vector<std::byte>> given;   // by binding: values in place of a default, while a run reads them
    std::vector<bool> sized_by_data;             // by binding: its extents are known after a run only; empty: not looked at
  };

  std::shared_ptr<const ServedModel> model;      // kept alive
  const ServedModel::Impl* served = nullptr;
  std::shared_ptr<served_model::DeviceEngines> engines;
  std::vector<Used> contexts;
  std::uint64_t clock = 0;

  Used& context_for(const ServedEngine& engine);
  // Runs one group. Throws where no request of it got an answer.
  BatchRun run_group(const served_model::Group& group);
};

}  // namespace tenfold
