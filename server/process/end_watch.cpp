#include "process/end_watch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "observe/log.h"
#include "process/link.h"

namespace tenfold::server {
namespace {

constexpr int kTurn = 50;                        // milliseconds

}  // namespace

EndWatch::EndWatch(const Descriptor& link) : link_(link) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // The terminal sends SIGINT to the supervisor, too.
  if (link) ::sigdelset(&signals, SIGINT);
  signals_ = Descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);                  // unless something is to be read again, whose matter it is
}

std::optional<End> EndWatch::of_link() {
  bool ended = false;
  const std::optional<Packet> packet = receive(link_, ended);
  if (ended) std::_Exit(1);                      // the supervisor is dead
  if (!packet) return std::nullopt;
  if (packet->message == Message::models) {
    try {
      if (changes_) changes_(changes_of_file(packet->file));
    } catch (const std::exception& error) {
      log_error(error.what());
    }
    return std::nullopt;
  }
  return packet->message == Message::hand_over ? End::hand_over : End::stop;
}

std::optional<End> EndWatch::wait(int milliseconds) {
  pollfd watched[2] = {{signals_.number(), POLLIN, 0}, {link_.number(), POLLIN, 0}};   // poll() leaves out -1
  if (::poll(watched, 2, milliseconds) <= 0) return std::nullopt;
  signalfd_siginfo signal;
  if (watched[0].revents && ::read(signals_.number(), &signal, sizeof signal) > 0) return End::stop;
  return watched[1].revents ? of_link() : std::nullopt;
}

void EndWatch::watch_on(std::function<void()> stopped) {
  watching_ = std::thread([this, stopped = std::move(stopped)] {
    while (!done_) {
      if (wait(kTurn) != End::stop) continue;
      if (!link_) std::_Exit(1);
      stopped();
    }
  });
}

EndWatch::~EndWatch() {
  done_ = true;
  if (watching_.joinable()) watching_.join();
}

}  // namespace tenfold::server
