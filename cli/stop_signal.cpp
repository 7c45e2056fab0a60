#include "stop_signal.h"

#include <csignal>
#include <cstdlib>

namespace tenfold::cli {
namespace {

volatile std::sig_atomic_t signal_that_came = 0;

void note(int signal) { signal_that_came = signal; }

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() : interrupts_([] { return !came(); }) { handle(note); }
StopSignal::~StopSignal() { handle(SIG_DFL); }
bool StopSignal::came() noexcept { return signal_that_came != 0; }

void StopSignal::end() {
  handle(SIG_DFL);
  std::raise(signal_that_came);
  std::_Exit(1);   // where the signal is blocked
}

}  // namespace tenfold::cli
