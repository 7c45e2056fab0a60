// What a build tried and why it decided so, as JSON: `inspect --why` and `report` show the same.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tenfold/build.h"

namespace tenfold::cli {

const char* name_of(CheckedOn inputs);
nlohmann::ordered_json overflow_json(const BuildReport& report);  // what stays f32 in a plan of f16
nlohmann::ordered_json why_json(const BuildReport& report);       // a step each, with all that was tried for it

}  // namespace tenfold::cli
