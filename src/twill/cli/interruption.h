#pragma once

namespace twill::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end this process but are noted, so that what is
/// half done can be taken back; signals that were ignored before still are. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that came, or 0.
  static int caught();
};

/// Ends this process by that signal, as if it had never been noted.
[[noreturn]] void end_by(int signal);

}  // namespace twill::cli
