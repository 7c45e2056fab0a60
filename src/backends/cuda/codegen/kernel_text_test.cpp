// Putting kernels' texts together: macros of statements, and which files a text includes.
#include "backends/cuda/codegen/kernel_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cuda/codegen/kernel_files.h"
#include "tenfold/error.h"

namespace tenfold::backends::cuda {
namespace {

TEST(KernelText, HoldsMacrosThenDeclarationsThenTheFile) {
  KernelText text;
  text.declare("void f();\n");
  text.define("N", 8);
  text.define_code("BODY", "    #pragma unroll\n    for (int i = 0; i < N; ++i) {\n      y[i] = 0;\n\n    }\n");
  EXPECT_EQ(text.of("gemm/gemm.cu"),
            "#include \"backends/cuda/kernels/lib/prelude.cuh\"\n"
            "#define CONFIGURED\n#define N 8\n"
            "#define BODY \\\n  _Pragma(\"unroll\") \\\n  for (int i = 0; i < N; ++i) { \\\n  y[i] = 0; \\\n  }\n"
            "void f();\n"
            "#include \"backends/cuda/kernels/gemm/gemm.cu\"\n");
}

TEST(KernelText, RefusesWhatAMacroCannotHold) {
  KernelText text;
  EXPECT_THROW(text.define_code("BODY", "y = 0;  // a comment would hide what follows\n"), Error);
  EXPECT_THROW(text.define_code("BODY", "#if N\ny = 0;\n#endif\n"), Error);
}

TEST(KernelFiles, AreFoundThroughEachOtherOnce) {
  const std::vector<KernelFile> files = included_kernel_files(KernelText().of("attention/attention_mma.cu"));
  const auto count = [&](std::string_view name) {
    return std::count_if(files.begin(), files.end(), [&](const KernelFile& f) { return f.name == name; });
  };
  EXPECT_EQ(count("backends/cuda/kernels/attention/attention_mma.cu"), 1);
  EXPECT_EQ(count("backends/cuda/kernels/lib/types.cuh"), 1);
  EXPECT_EQ(count("backends/cuda/kernels/attention/attention_args.h"), 1);
  EXPECT_EQ(count("backends/cuda/kernels/gemm/gemm.cu"), 0);
  EXPECT_TRUE(included_kernel_files("extern \"C\" __global__ void kernel() {}").empty());
  EXPECT_THROW(included_kernel_files("#include \"backends/cuda/kernels/lib/none.cuh\"\n"), Error);
}

// In a process of its own, for the folder is looked at once.
TEST(KernelFiles, ComeFromAnotherFolderWhereTheyLieThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / cat("kernels", ::getpid());
  std::filesystem::create_directories(folder / "gemm");
  std::ofstream(folder / "gemm" / "gemv.cu") << "// other\n";
  const auto exit_with_override = [&] {
    ::setenv("TENFOLD_CUDA_KERNELS", folder.c_str(), 1);
    const std::vector<KernelFile> files = included_kernel_files(KernelText().of("gemm/gemv.cu"));
    const auto it = std::find_if(files.begin(), files.end(), [](const KernelFile& f) { return f.name.ends_with("/gemv.cu"); });
    const bool noted = kernel_override_note().starts_with("1 of ") && kernel_override_note().ends_with(folder.string());
    std::exit(it != files.end() && it->text == "// other\n" && files.size() > 1 && noted ? 0 : 1);
  };
  EXPECT_EXIT(exit_with_override(), ::testing::ExitedWithCode(0), "");
  std::filesystem::remove_all(folder);
  const auto exit_without_override = [&] {
    ::setenv("TENFOLD_CUDA_KERNELS", folder.c_str(), 1);
    try {
      included_kernel_files(KernelText().of("gemm/gemv.cu"));
    } catch (const Error& e) {
      std::exit(std::string(e.what()).find("TENFOLD_CUDA_KERNELS") != std::string::npos ? 0 : 1);
    }
    std::exit(1);
  };
  EXPECT_EXIT(exit_without_override(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tenfold::backends::cuda
