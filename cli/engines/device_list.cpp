// A fallback chain of devices: each candidate builds or loads the engine for one of them.
#include "engines/device_list.h"

#include <filesystem>
#include <optional>

#include "tenfold/fallback_chain.h"

namespace tenfold::cli {
namespace {

// What no other device of the list mends. A fallback chain goes on at an Error, so this is none.
struct Hopeless {
  std::exception_ptr why;
};

bool may_work_elsewhere(const Error& e) {
  return e.kind() == ErrorKind::device || e.kind() == ErrorKind::out_of_memory || e.kind() == ErrorKind::unsupported ||
         e.kind() == ErrorKind::plan_refused;
}

// One device's part of what was asked. Made once, also if that fails.
class Attempt {
 public:
  Attempt(const ExecOptions& requested, const std::string& device) : options(requested) {
    options.build.device = device;
    options.save_engine = plan_name_for(requested.save_engine, device);
    if (const std::string own = plan_name_for(requested.load_engine, device); std::filesystem::exists(own)) options.load_engine = own;
  }
  Engine open(const InputFiles& files) {
    if (!made && !failed) make(files);
    if (failed) std::rethrow_exception(failed);
    return made->engine;
  }
  void make(const InputFiles& files) {
    try {
      made = make_and_save(options, files);
    } catch (const UsageError& e) {   // there is no such device
      failed = std::make_exception_ptr(Error(ErrorKind::invalid_argument, e.what()));
    } catch (const Error& e) {
      if (!may_work_elsewhere(e)) throw Hopeless{std::current_exception()};
      failed = std::current_exception();
    }
  }

  ExecOptions options;
  std::optional<Made> made;
  std::exception_ptr failed;
};

void walk(FallbackChain& fallback_chain, std::vector<Attempt>& attempts, const Console& console,
          const std::function<void(const ExecOptions&, const Made&)>& answer) {
  std::size_t reported = 0;
  const auto warn = [&] {
    for (; reported < fallback_chain.failures().size(); ++reported)
      console.warn("'" + fallback_chain.failures()[reported].name + "' does not work: " + fallback_chain.failures()[reported].why);
  };
  for (;;) {
    try {
      fallback_chain.engine();
    } catch (const Error&) {
      warn();
      throw;
    }
    warn();
    const Attempt& own = attempts[static_cast<std::size_t>(fallback_chain.candidate())];
    try {
      console.info("Answers come from '" + own.options.build.device + "' (" + own.made->engine.info().device + ").");
      return answer(own.options, *own.made);
    } catch (const Error& e) {
      if (!may_work_elsewhere(e)) throw;
      fallback_chain.report_failure(e.kind(), e.what());
    }
  }
}

}  // namespace

void on_first_device(const ExecOptions& options, const std::vector<std::string>& devices, const InputFiles& files,
                     const std::function<void(const ExecOptions&, const Made&)>& answer) {
  std::vector<Attempt> attempts;
  for (const std::string& device : devices) attempts.emplace_back(options, device);
  std::vector<EngineCandidate> candidates;
  for (Attempt& a : attempts) candidates.push_back({a.options.build.device, [&a, &files] { return a.open(files); }});
  try {
    if (!options.save_engine.empty())
      for (Attempt& a : attempts) a.make(files);   // each device's plan is wanted, not the first one's alone
    FallbackChain fallback_chain(std::move(candidates));
    walk(fallback_chain, attempts, options.console, answer);
  } catch (const Hopeless& e) {
    std::rethrow_exception(e.why);
  }
}

}  // namespace tenfold::cli
