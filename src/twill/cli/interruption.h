#pragma once

namespace twill::cli {

/// During its lifetime, SIGINT, SIGTERM and SIGHUP are noted and do not end the process, so that
/// half-done work can be undone. Signals that were ignored before stay ignored. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that came, or 0.
  static int caught();
};

/// Ends this process by that signal, as its default action would.
[[noreturn]] void end_by(int signal);

}  // namespace twill::cli
