// Manual pages and completions of shells, made of the tables of flags that --help prints.
#pragma once

#include <string>

#include "verbs.h"

namespace tenfold::cli {

// A page of section 1 in roff: of the program, or of one verb.
std::string manual_of_program(const std::string& environment, const std::string& exit_codes);
std::string manual_of(const Verb& verb);
std::string manual_of_server();   // the program tenfold-server
// For bash, zsh or fish. Throws UsageError for another shell.
std::string completion_for(const std::string& shell);

}  // namespace tenfold::cli
