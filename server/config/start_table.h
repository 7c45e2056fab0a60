// What the start ends with: a line for each model.
#pragma once

#include <string>
#include <vector>

#include "core/models.h"

namespace tenfold::server {

struct StartRow {
  std::string model, version, device, precision, batch, plan, reason;
  bool ready = false;
  bool required = true;                          // without it the start has failed
};
StartRow row_of(const Model& model);
StartRow failed_row(const std::string& name, const std::string& why);
std::string start_table(const std::vector<StartRow>& rows);
std::string shown_address(const std::string& address);   // as a URL has it

}  // namespace tenfold::server
