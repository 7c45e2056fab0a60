#include "process/hang_up.h"

#include <csignal>

namespace tenfold::server {

HangUp::HangUp(std::function<void()> called) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this, signals, called = std::move(called)] {
    int signal = 0;
    while (::sigwait(&signals, &signal) == 0 && !ending_) called();
  });
}

HangUp::~HangUp() {
  ending_ = true;
  ::pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

}  // namespace tenfold::server
