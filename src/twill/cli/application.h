#pragma once

namespace twill::cli {

/// The whole program: reads the command line, calls the library, prints, and returns the exit code.
int run(int argc, char** argv);

}  // namespace twill::cli
