#include "twill/cli/application.h"

int main(int argc, char** argv) { return twill::cli::run(argc, argv); }
