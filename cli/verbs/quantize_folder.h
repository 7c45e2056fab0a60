// tenfold quantize FOLDER: a language model's folder with linear layers of 4 or 8 bits.
#pragma once

#include <string>

#include "flags/flags.h"
#include "verbs.h"

namespace tenfold::cli {

struct FolderWish {
  std::string weights, method;   // empty: not given
  int max_tokens = 0;            // 0: not given
  bool json = false;
};
void add_folder_flags(Flags& flags, FolderWish& w);
void check_no_folder(const FolderWish& w);   // throws UsageError for flags that a file does not take

// Of the flags that files have, too.
struct FolderArguments {
  std::string output, data;
  int samples = 0, threads = 0;
};
int quantize_folder(const Arguments& arguments, const std::string& folder, const FolderArguments& given, const FolderWish& w);

}  // namespace tenfold::cli
