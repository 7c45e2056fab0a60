// Sentences of the library for readers of the program: fields of C++ become its flags.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::cli {

std::string in_flags(std::string_view text);

}  // namespace tenfold::cli
