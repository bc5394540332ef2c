#include "twill/cli/interruption.h"

#include <array>
#include <csignal>
#include <cstdlib>

namespace twill::cli {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int signal) { noted = signal; }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interruption::Interruption() {
  noted = 0;
  for (const int signal : kSignals) {
    if (!is_ignored(signal)) handle(signal, note_signal);
  }
}

Interruption::~Interruption() {
  for (const int signal : kSignals) {
    if (!is_ignored(signal)) handle(signal, SIG_DFL);
  }
}

int Interruption::caught() { return noted; }

void end_by(int signal) {
  handle(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace twill::cli
