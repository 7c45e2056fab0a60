// Builds the model given and saves its plan: build_model MODEL PLAN.
#include <cstdio>

#include "tenfold/build.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    tenfold::BuildConfig config;
    config.threads = 1;
    tenfold::build_file(argv[1], config).save(argv[2]);
  } catch (const tenfold::Error& e) {
    std::fprintf(stderr, "%s: %s\n", std::string(tenfold::name(e.kind())).c_str(), e.what());
    return 1;
  }
}
