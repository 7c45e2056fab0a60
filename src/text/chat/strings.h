// What Python's texts do, for methods and filters. Letters are those of Unicode; upper case is that of single letters.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "text/chat/value.h"

namespace tenfold::chat {

bool is_white(char32_t c);
// Where the part begins, from there on; npos: nowhere. In time in proportion to the text, which std::string::find() does not promise.
std::size_t place_of(std::string_view text, std::string_view part, std::size_t from = 0);
std::size_t last_place_of(const std::string& text, const std::string& part);
std::string lower(const std::string& text);
std::string upper(const std::string& text);
std::string capitalized(const std::string& text);                 // the first letter upper case, others lower case
// Each word so; words are behind what `separates`.
std::string titled(const std::string& text, const std::function<bool(char32_t)>& separates);
// Without characters of `which` (empty: white space) at the ends.
std::string stripped(const std::string& text, const std::string& which, bool left, bool right);
// Throws invalid_argument where there are more than a million parts; so does lines().
// `separator` empty: runs of white space, none at the ends; at most `times` cuts, -1: all.
List split(const std::string& text, const std::string& separator, std::int64_t times, bool from_right);
List lines(const std::string& text, bool keep_ends = false);
std::string replaced(const std::string& text, const std::string& old, const std::string& with, std::int64_t times);
std::int64_t count(const std::string& text, const std::string& part);
bool all_of(const std::string& text, const std::function<bool(char32_t)>& holds);   // and there are some
std::string escaped(const std::string& text);                     // for HTML

}  // namespace tenfold::chat
