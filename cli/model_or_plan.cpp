// The first bytes of a plan, and flags of reading and building models.
#include "model_or_plan.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "flags/specs.h"
#include "formats/files.h"
#include "tenfold/device.h"
#include "tenfold/internal/file.h"
#include "tenfold/plugin.h"

namespace tenfold::cli {

bool is_plan(const std::string& path) {
  std::error_code none;   // of a named pipe the first bytes would be gone, and may never come
  if (std::filesystem::exists(path, none) && !std::filesystem::is_directory(path, none) && !std::filesystem::is_regular_file(path, none))
    throw Error(ErrorKind::io, "cannot open '" + path + "': it is no regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::io, "cannot open '" + path + "': " + std::generic_category().message(errno));
  char magic[8] = {};
  in.read(magic, sizeof magic);
  return std::string_view(magic, 8) == std::string_view("\x89TFPLAN\n", 8);
}

void add_packing_flag(Flags& flags, BuildConfig& config) {
  flags.add({"packTokens", "[zeros]",
             "+text encoders skip padding, if outputs are masked means; zeros: also if outputs have rows for tokens, which are zero for "
             "padding",
             [&config](const std::string& text) {
               if (!text.empty() && text != "zeros") throw UsageError("--packTokens takes nothing or zeros, not '" + text + "'");
               config.pack_tokens = text.empty() ? PackTokens::where_equal : PackTokens::with_zeros;
             }});
}

void add_newest_row_flag(Flags& flags, BuildConfig& config) {
  flags.add_text("newestRow", config.newest_row, "INPUT:AXIS",
                 "+windows of this input slide by one row along this axis: steps that do not depend on the last row run before it arrives");
}

void add_pass_flags(Flags& flags, BuildConfig& config) {
  flags.add({"disablePasses", "LIST", "+disable these graph passes: fuse_norm,fuse_attention (a wrong name lists all)",
             [&config](const std::string& text) {
               for (const std::string& name : split(text, ',')) config.disabled_passes.push_back(name);
             }});
  flags.add({"dumpPasses", "DIR", "+write the graph as imported and after each pass that changed it: DIR/01_fold_constants.txt",
             [&config](const std::string& dir) {
               std::filesystem::create_directories(dir);
               config.dump = [dir, number = 0](std::string_view pass, std::string_view graph) mutable {
                 char order[16];
                 std::snprintf(order, sizeof order, "%02d_", number++);
                 write_file((std::filesystem::path(dir) / (order + std::string(pass) + ".txt")).string(), std::string(graph));
               };
             }});
}

// They are for diagnosis, and the library asks the environment for such.
void add_kernel_flags(Flags& flags) {
  flags.add({"dumpKernels", "DIR", "+write the CUDA C of each GPU kernel and its included files: DIR/gemm_wgmma-KEY-sm_90.cu",
             [](const std::string& dir) {
               std::filesystem::create_directories(dir);
               ::setenv("TENFOLD_DUMP_KERNELS", dir.c_str(), 1);
             }});
  flags.add({"kernelLineInfo", "", "+compile kernels with line info, so that profilers show the CUDA C of --dumpKernels",
             [](const std::string&) { ::setenv("TENFOLD_KERNEL_LINE_INFO", "1", 1); }});
}

void add_overridable_flag(Flags& flags, BuildConfig& config) {
  flags.add({"overridable", "[LIST]",
             "+initializers that are also graph inputs stay inputs, with the initializer as the default value; without names: all",
             [&config](const std::string& text) {
               for (const std::string& name : split(text.empty() ? "*" : text, ',')) config.overridable.push_back(name);
             }});
}

void add_plugins_flag(Flags& flags, BuildConfig& config) {
  flags.add({"plugins", "FILE", "+load this plug-in library, docs/guides/plugins.md (repeatable)",
             [&config, set = std::shared_ptr<Plugins>()](const std::string& file) mutable {
               if (!set) config.plugins = set = std::make_shared<Plugins>();
               try {
                 set->load(file);
               } catch (const Error& e) {   // whatever is wrong with it is wrong with a file, not with the command
                 throw Error(e.kind() == ErrorKind::out_of_memory ? e.kind() : ErrorKind::io, e.what());
               }
             }});
}

void add_import_flags(Flags& flags, BuildConfig& config) {
  flags.add({"shapes", "SPEC", "shapes of dynamic inputs: name:1x3x224x224,other:1x128", [&config](const std::string& text) {
               if (config.profiles.empty()) config.profiles.emplace_back();
               for (auto& [name, shape] : parse_shapes("shapes", text)) config.profiles[0][name] = {shape, shape, shape};
             }});
  add_plugins_flag(flags, config);
  add_overridable_flag(flags, config);
  flags.add({"externalDataDir", "DIR", "another folder to search for external data",
             [&config](const std::string& text) { config.external_data_dirs.push_back(text); }});
}

}  // namespace tenfold::cli
