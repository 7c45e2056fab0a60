// Texts of a file, one after the other, so that memory stays bounded: lines, JSON lines, records of CSV and TSV.
#pragma once

#include <functional>
#include <string>

namespace tenfold::formats {

// The next text; false: there is none. Throws Error(io).
using TextStream = std::function<bool(std::string& text)>;

// `column`: the field of .jsonl's objects ("text" where none is given), or the column of .csv and .tsv by its title or its number from 0
// on. Lines of other files are texts as they are, empty ones, too.
// `name` is what messages call the argument `column`. Throws Error(invalid_argument) where it is missing, or given for lines.
TextStream open_texts(const std::string& path, const std::string& column, const std::string& name = "column");

}  // namespace tenfold::formats
