// Telling a plan from a model, and flags that several verbs have.
#pragma once

#include <string>

#include "flags/flags.h"
#include "tenfold/build.h"

namespace tenfold::cli {

bool is_plan(const std::string& path);  // by its first bytes; throws Error(io)
void add_packing_flag(Flags& flags, BuildConfig& config);   // --packTokens; among the build flags below
void add_newest_row_flag(Flags& flags, BuildConfig& config);   // --newestRow; among the build flags below
void add_pass_flags(Flags& flags, BuildConfig& config);   // --disablePasses, --dumpPasses; among the build flags below
void add_kernel_flags(Flags& flags);   // --dumpKernels, --kernelLineInfo; among the build flags below
void add_overridable_flag(Flags& flags, BuildConfig& config);  // --overridable; among the build flags below
void add_plugins_flag(Flags& flags, BuildConfig& config);   // --plugins, once for each library; among the flags below
void add_import_flags(Flags& flags, BuildConfig& config);  // of reading a model: shapes, plug-ins, external data

}  // namespace tenfold::cli
