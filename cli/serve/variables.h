// The environment's names of flags: TENFOLD_HTTP_PORT of --http-port.
#pragma once

#include <string>

#include "flags/flags.h"

namespace tenfold::cli {

std::string variable_of(const std::string& flag);
// Kubernetes gives a pod the addresses of services as variables: a service `tenfold` makes TENFOLD_PORT=tcp://10.0.0.7:8000.
bool is_service_link(const std::string& value);
// Throws UsageError for a variable TENFOLD_* that is nearly a flag's. Others may be another program's.
void expect_known_variables(const Flags& flags);

}  // namespace tenfold::cli
