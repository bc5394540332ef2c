#include "twill/cli/batch.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/cli/commands.h"
#include "twill/cli/ignored_options.h"
#include "twill/cli/output.h"
#include "twill/cli/progress.h"
#include "twill/driver/answers.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/driver/plan_loop.h"
#include "twill/report/schedule_json.h"
#include "twill/support/in_order.h"

namespace twill::cli {
namespace {

namespace fs = std::filesystem;

struct Line {
  std::string text;
  int code = kAnswer;
};

Line failed(const std::string& input, std::string error, int code) {
  while (error.ends_with('\n')) error.pop_back();
  return {report::error_line(input, error, code), code};
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin);
}

Result<std::vector<std::string>> read_list(const std::string& list) {
  TWILL_TRY(const driver::Input input, driver::read_input(list));
  std::vector<std::string> paths;
  for (std::string_view rest = input.text; !rest.empty();) {
    const std::string_view whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole.size() + 1, rest.size()));
    const std::string_view path = trimmed(whole);
    if (!path.empty() && !path.starts_with('#')) paths.emplace_back(path);
  }
  if (paths.empty()) return fail({input.name}, "names no input", "one path per line, # comments");
  return paths;
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail({path}, "cannot be made: " + error.message());
  return {};
}

/// One batch; `line_of` may run on several threads at once.
class Run {
 public:
  Run(const Batch& batch, std::vector<std::string> paths)
      : batch_(batch), paths_(std::move(paths)) {}

  int run() {
    auto show = batch_progress_line();
    int worst = kAnswer;
    Result<void> printed;
    const auto take = [&](std::size_t i, const Line& line) {
      worst = std::max(worst, line.code);
      end_progress_line();
      printed = print(line.text);
      if (show) show(i + 1, paths_.size());
      if (!printed) cancelled_ = true;
      return printed.has_value();
    };
    in_order(
        paths_.size(), batch_.jobs, [this](std::size_t i) { return line_of(i); }, take);
    end_progress_line();
    return printed ? worst : refuse(printed.error());
  }

 private:
  Line line_of(std::size_t number) {
    const std::string& path = paths_[number];
    try {
      return schedule(number);
    } catch (const std::bad_alloc&) {
      return failed(path, "there is not enough memory for this", kUndecided);
    } catch (const std::exception& error) {
      return failed(path, std::string("internal error: ") + error.what(), kOurBug);
    }
  }

  Line schedule(std::size_t number) {
    const std::string& path = paths_[number];
    if (path == "-") return failed(path, "standard input cannot be one of many inputs", kBadInput);
    auto input =
        driver::read_input(path, {{}, batch_.settings.choice.map}, batch_.settings.machine);
    if (!input) return failed(path, to_string(input.error()), kBadInput);
    driver::Request request = batch_.settings;
    request.input = *std::move(input);
    request.answers = &answers_;
    request.limits.cancelled = [this] { return cancelled_.load(); };
    auto planned = driver::answer_loop(request);
    if (!planned) return failed(path, to_string(planned.error()), kBadInput);
    const report::Outcome& outcome = planned->outcome;
    add_ignored(batch_.given, request.input, planned->outcome);
    const int code = exit_code_of(outcome);
    if (code == kUnverified) {
      return failed(path,
                    fmt::format("verification failed; this is a bug of ours: {}",
                                fmt::join(outcome.violations, "; ")),
                    code);
    }
    if (!batch_.folder.empty()) {
      driver::look_for_doors(request, *planned);
      const auto written =
          write_file(file_for(number), report::schedule_json(outcome, batch_.printing));
      if (!written) return failed(path, to_string(written.error()), kBadInput);
    }
    return {report::schedule_line(outcome, code), code};
  }

  /// FOLDER/007-NAME.json: two inputs may have the same name.
  std::string file_for(std::size_t number) const {
    const std::string name =
        fmt::format("{:0{}}-{}.json", number + 1, std::to_string(paths_.size()).size(),
                    fs::path(paths_[number]).stem().string());
    return (fs::path(batch_.folder) / name).string();
  }

  const Batch& batch_;
  const std::vector<std::string> paths_;
  driver::Answers answers_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

int run_batch(const Batch& batch) {
  auto paths = read_list(batch.list);
  if (!paths) return refuse(paths.error());
  if (!batch.folder.empty()) {
    const auto made = make_folder(batch.folder);
    if (!made) return refuse(made.error());
  }
  return Run(batch, *std::move(paths)).run();
}

}  // namespace twill::cli
