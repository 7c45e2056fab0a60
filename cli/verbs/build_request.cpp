// tenfold build-request: the process that tunes for another one (tenfold/model_engines.h). Not for people: it has no
// flags and no help.
#include "tenfold/internal/build_request.h"

#include "flags/flags.h"
#include "verbs.h"

namespace tenfold::cli {

int build_request_main(const Arguments& arguments) {
  if (!arguments.empty())
    throw UsageError("build-request takes no arguments: the process that starts it hands it files");
  constexpr int kRequest = 0, kAnswers = 1, kPlan = 3;  // as src/serving/background/build_process.cpp opens them
  return answer_build_request(kRequest, kPlan, kAnswers) ? kOk : kRunFailed;
}

}  // namespace tenfold::cli
