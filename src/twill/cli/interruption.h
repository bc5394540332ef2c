#pragma once

namespace twill::cli {

/// Notes SIGINT, SIGTERM and SIGHUP during its lifetime instead of ending the process, so that
/// half-done work can be undone. Signals that were ignored before stay ignored. Only one may exist
/// at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that arrived, or 0.
  static int caught();
};

/// Ends this process by that signal, as its default action would.
[[noreturn]] void end_by(int signal);

}  // namespace twill::cli
