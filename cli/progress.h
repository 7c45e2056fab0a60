// The progress of a build on stderr: a bar where that is a terminal, or one JSON object a line.
#pragma once

#include <functional>
#include <string>

#include "tenfold/build.h"

namespace tenfold::cli {

// The bar as one line of at most `columns` characters, which is all that a terminal of that width shows without a second line; where that
// is too narrow the counts alone, or nothing.
std::string bar_text(const Progress& progress, int columns);

// `style` is auto (a bar if stderr is a terminal), none or json (one object a line on stderr). Throws UsageError.
std::function<bool(const Progress&)> progress_printer(const std::string& style);

// Takes the bar away, if one is shown, so that another line may stand in its place. From any thread.
void clear_bar();

}  // namespace tenfold::cli
