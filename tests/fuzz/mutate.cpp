// A seeded mutator for ctest: `X RUNS FILE...` calls the fuzz target X on a few nasty inputs. Then
// come RUNS mutations of the files (times TWILL_ROUNDS, if set). The same command runs the same
// inputs. An input that ends the process, or takes longer than a minute, is left in the file
// X.input.

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "fuzz.h"

namespace {

using Random = std::mt19937_64;

constexpr std::size_t kLongestInput = 1 << 20;

/// Below `end`, which is positive. Not a standard distribution, since those differ between
/// libraries.
std::size_t below(Random& random, std::size_t end) {
  return static_cast<std::size_t>(random() % end);
}

/// Tokens that trip readers: limits of integers, openers without closers, bytes that are no text.
constexpr std::array kTokens = {
    "0",
    "-1",
    "1",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "1e999",
    "1000000001",
    "0x",
    "\"",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "[",
    "]",
    "->",
    ":",
    ",",
    "%",
    "#",
    "@",
    "//",
    "\n",
    "\r\n",
    "\t",
    "\xff\xfe",
    "\xc3",
    "null",
    "true",
    "loc(",
    "dense<",
    "!tt.ptr<",
    "tensor<",
    "!ttg.memdesc<",
};

std::string slice(const std::string& text, Random& random) {
  if (text.empty()) return {};
  const std::size_t begin = below(random, text.size());
  return text.substr(begin, below(random, std::min<std::size_t>(text.size() - begin, 200)) + 1);
}

/// Begins of a random line and of the next line.
std::pair<std::size_t, std::size_t> line(const std::string& text, Random& random) {
  const std::size_t at = below(random, text.size());
  const std::size_t before = text.rfind('\n', at);
  const std::size_t after = text.find('\n', at);
  return {before == std::string::npos ? 0 : std::min(before + 1, at),
          after == std::string::npos ? text.size() : after + 1};
}

void replace_number(std::string& text, Random& random) {
  constexpr const char* kDigits = "0123456789";
  const std::size_t from = text.find_first_of(kDigits, below(random, text.size()));
  if (from == std::string::npos) return;
  const std::size_t to = std::min(text.find_first_not_of(kDigits, from), text.size());
  text.replace(from, to - from, kTokens[below(random, 8)]);
}

void mutate_once(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  if (text.empty()) text = seeds[below(random, seeds.size())];
  const std::size_t at = below(random, text.size());
  switch (below(random, 9)) {
    case 0:
      text[at] = static_cast<char>(random());
      return;
    case 1:
      text.erase(at, below(random, 40) + 1);
      return;
    case 2:
      text.insert(at, kTokens[below(random, kTokens.size())]);
      return;
    case 3:
      text.insert(at, slice(seeds[below(random, seeds.size())], random));
      return;
    case 4:
      replace_number(text, random);
      return;
    case 5:
      if (below(random, 4) == 0) text.resize(at);
      return;
    default:
      break;
  }
  const auto [begin, end] = line(text, random);
  const std::string whole = text.substr(begin, end - begin);
  if (below(random, 2) == 0) text.erase(begin, end - begin);
  if (below(random, 2) == 0) text.insert(line(text + "\n", random).first, whole);
}

std::vector<std::string> nasty_inputs() {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  std::vector<std::string> inputs = {" ", "\n", std::string(1, '\0'), std::string("\xef\xbb\xbf")};
  for (const char c : std::string_view("([{<\"'\n #%@!-:,09a\\")) inputs.emplace_back(kMegabyte, c);
  std::string noise(10 * kMegabyte, ' ');
  Random random(7);
  for (char& c : noise) c = static_cast<char>(random());
  inputs.push_back(noise);
  for (char& c : noise) c = static_cast<char>(' ' + static_cast<unsigned char>(c) % 95);
  inputs.push_back(std::move(noise));
  return inputs;
}

/// The current input and the file in which to leave it, for the handlers below.
std::string_view under_way;
std::string kept_path;

void keep_input() {
  if (under_way.data() == nullptr) return;
  const int file = open(kept_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  [[maybe_unused]] const auto written = write(file, under_way.data(), under_way.size());
  close(file);
}

extern "C" void keep_input_and_die(int signal) {
  keep_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void keep_inputs_that_kill(std::string path) {
  kept_path = std::move(path);
  static std::array<char, 1 << 16> stack;  // the input may have used up the normal stack
  stack_t alternate = {};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = keep_input_and_die;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    sigaction(signal, &action, nullptr);
  }
  std::atexit(keep_input);  // a failed TWILL_CHECK exits
}

void run(const std::string& text) {
  constexpr unsigned kSecondsMax = 60;
  under_way = text;
  alarm(kSecondsMax);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  alarm(0);
  under_way = {};
}

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: X RUNS FILE...\n", stderr), 2;
  const char* const times = std::getenv("TWILL_ROUNDS");
  const long runs = std::strtol(argv[1], nullptr, 10) *
                    (times == nullptr ? 1 : std::max(1L, std::strtol(times, nullptr, 10)));
  std::vector<std::string> seeds;
  for (int i = 2; i < argc; ++i) {
    seeds.push_back(contents(argv[i]));
    if (seeds.back().empty()) return std::fprintf(stderr, "%s: nothing to mutate\n", argv[i]), 2;
  }
  std::string program = argv[0];
  program.erase(0, program.rfind('/') + 1);
  keep_inputs_that_kill(program + ".input");

  for (const std::string& input : nasty_inputs()) run(input);
  for (const std::string& seed : seeds) run(seed);
  Random random(1);
  for (long i = 0; i < runs; ++i) {
    std::string text = seeds[below(random, seeds.size())];
    for (std::size_t left = below(random, 6) + 1; left > 0; --left)
      mutate_once(text, seeds, random);
    text.resize(std::min(text.size(), kLongestInput));
    run(text);
  }
  std::printf("%s: %ld mutations of %zu files\n", program.c_str(), runs, seeds.size());
  return 0;
}
