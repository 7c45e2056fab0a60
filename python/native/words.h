// Sentences of the library for readers who write Python: the program's flags and fields of C++ become keywords.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::python {

std::string python_words(std::string_view text);

}  // namespace tenfold::python
