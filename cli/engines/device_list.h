// --device=cuda:0,cpu: answers of the first device that works.
#pragma once

#include <functional>

#include "engines/engines.h"

namespace tenfold::cli {

// Says why the others do not work. If none does, throws what names them all, or what no device could mend.
void on_first_device(const ExecOptions& options, const std::vector<std::string>& devices, const InputFiles& files,
                     const std::function<void(const ExecOptions&, const Made&)>& answer);

}  // namespace tenfold::cli
