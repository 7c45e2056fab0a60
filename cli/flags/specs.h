// The small languages inside flags: "name:1x3x224x224,other:2" and "name:file".
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::cli {

// "name:value,name:value"; a name with ':' or ',' stands in single quotes. The first colon outside quotes ends the name.
std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& flag, const std::string& text);
// Files by name of an input. Without a name, that of "": an .npz, whose arrays have the inputs' names, or the file of the only input.
void parse_files(const std::string& flag, const std::string& text, std::map<std::string, std::string>& files);
// `may_be_unnamed`: "1x3x224x224" alone is the shape of "", the only input.
std::map<std::string, Shape> parse_shapes(const std::string& flag, const std::string& text, bool may_be_unnamed = false);
std::vector<std::string> split(const std::string& text, char separator);     // not inside single quotes
std::string lower(std::string text);
std::int64_t parse_bytes(const std::string& flag, const std::string& text);  // "64" MiB, "1G", "512K", "100B"

}  // namespace tenfold::cli
