#include "process/report.h"

#include "net/listen_socket.h"
#include "observe/log.h"

namespace tenfold::server {
namespace {

constexpr std::chrono::milliseconds kBetweenWords{500};
constexpr std::chrono::seconds kAnswerTime{3}, kGrace{2};

// "loading bert: tuning 37 of 120; 3 models are ready".
std::string loading_words(const Models& models) {
  std::string words;
  int ready = 0;
  for (const IndexRow& row : models.index()) {
    ready += row.state == ModelState::ready;
    if (row.state == ModelState::loading && words.empty()) words = "loading " + row.name + (row.reason.empty() ? "" : ": " + row.reason);
  }
  if (words.empty()) words = "loading";
  if (ready > 0) words += "; " + std::to_string(ready) + (ready == 1 ? " model is ready" : " models are ready");
  return words;
}

}  // namespace

std::function<bool()> answers_on(const cli::ServeOptions& options, const Sockets& sockets) {
  std::optional<RequestedPort> port = health_port(options);
  if (!port) {
    log_warning("the watchdog cannot ask the server, for neither HTTP's port nor that of metrics is open: it sees that the process lives");
    return [] { return true; };
  }
  port->port = port_of((sockets.http ? sockets.http : sockets.metrics).number());
  return [port = *port, security = options.security] {
    const std::string why = request_health(port, "live", security, kAnswerTime);
    if (!why.empty()) log_warning("watchdog: " + why);
    return why.empty();
  };
}

std::chrono::seconds patience_at_end(const cli::ServeOptions& options) {
  return std::chrono::seconds(options.shutdown.delay_s + options.shutdown.timeout_s) + kGrace;
}

Report::Report(const Descriptor& link, const cli::ServeOptions& options) : link_(link), options_(options) {
  if (!link) manager_.emplace();
}

void Report::watch(const Sockets& sockets) {
  if (manager_ && manager_->watchdog()) watchdog_.emplace(*manager_, answers_on(options_, sockets));
}

void Report::loading(const Models& models) {
  const auto now = std::chrono::steady_clock::now();
  if (now - said_ < kBetweenWords) return;
  std::string words = loading_words(models);
  if (words == words_) return;
  words_ = std::move(words), said_ = now;
  if (link_) send(link_, Message::status, words_);
  else manager_->loading(words_);
}

void Report::ready(const std::string& line) {
  const std::lock_guard lock(mutex_);
  ready_line_ = line;
  if (link_) send(link_, Message::ready, line);
  else manager_->ready(line);
}

void Report::reading_files() {
  const std::lock_guard lock(mutex_);
  if (manager_ && !ready_line_.empty()) manager_->reloading();
}

void Report::read_files() {
  const std::lock_guard lock(mutex_);
  if (link_) send(link_, Message::reloaded);
  else if (!ready_line_.empty()) manager_->ready(ready_line_);
}

void Report::stopping() {
  if (manager_) manager_->stopping(patience_at_end(options_));
}

}  // namespace tenfold::server
