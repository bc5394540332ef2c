// Protects: a certificate of a tuned mapping is about its choices, kernels, bounds and best choice.
// Dropping or changing any of these is refused with a reason.

#include "twill/certify/tiles.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver/request.h"
#include "twill/driver/tune.h"

namespace twill::driver {
namespace {

using certify::Files;

const std::string kTask = std::string(TWILL_SOURCE_DIR) + "/kernels/tasks/gemm.task";

/// A mapping with seven choices, one of which gives no kernel.
std::string map_file() {
  const std::string path = testing::TempDir() + "tiles_test.map";
  std::ofstream(path) << "map m for gemm on h200 { U = {64, 128} V = {64, 100, 128, 256} W = 64 }";
  return path;
}

/// The certificate, made once.
const Files& good_files() {
  static const Files files = [] {
    Request request;
    request.choice.map = map_file();
    const auto tuned = tune(kTask, request);
    EXPECT_TRUE(tuned) << (tuned ? "" : to_string(tuned.error()));
    if (!tuned) return Files();
    auto certified = certify_tiles(request, *tuned);
    EXPECT_TRUE(certified) << (certified ? "" : to_string(certified.error()));
    return certified ? *std::move(certified) : Files();
  }();
  return files;
}

const std::string& tiles_text() { return good_files().at(std::string(certify::kTilesFile)); }

/// Reason why the files are not accepted for the input of `good`; empty if accepted.
std::string objection_to_tiles(const Files& files) {
  const auto anew = certify::parse_tiles(tiles_text(), "anew");
  EXPECT_TRUE(anew);
  const auto checked = certify::check_tiles(files, anew ? &*anew : nullptr);
  if (!checked) return "error: " + checked.error().message;
  return checked->rejection ? checked->rejection->reason : "";
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

template <class Strings>
std::string joined(const Strings& all, const char* between) {
  std::string out;
  for (const std::string& it : all) out += it + between;
  return out;
}

std::string with_tiles(const std::vector<std::string>& lines) {
  Files files = good_files();
  files[std::string(certify::kTilesFile)] = joined(lines, "\n");
  return objection_to_tiles(files);
}

TEST(TilesCertificate, IsAcceptedForItsInput) {
  EXPECT_EQ(objection_to_tiles(good_files()), "");
  const auto checked = check_tiles(good_files(), kTask, map_file(), "");
  ASSERT_TRUE(checked) << to_string(checked.error());
  EXPECT_FALSE(checked->rejection) << checked->rejection->reason;
  ASSERT_EQ(checked->lines.size(), 3U);
  EXPECT_NE(checked->lines[0].find("8: 6 kernels"), std::string::npos) << checked->lines[0];
}

TEST(TilesCertificate, LinesThatAreMissing) {
  const std::vector<std::string> lines = lines_of(tiles_text());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(with_tiles(fewer), "") << lines[i];
  }
}

// A best choice with a longer interval than its own is a weaker claim, and may be accepted.
TEST(TilesCertificate, NumbersThatAreOthers) {
  const std::vector<std::string> lines = lines_of(tiles_text());
  std::size_t mutants = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string> words = words_of(lines[i]);
    for (std::size_t w = 1; w < words.size(); ++w) {
      if (words[w].find_first_not_of("0123456789") != std::string::npos) continue;
      for (const int by : {-1, 1}) {
        if (words[0] == "best" && w == 2 && by == 1) continue;
        std::vector<std::string> others = words;
        others[w] = std::to_string(std::stoll(words[w]) + by);
        std::vector<std::string> changed = lines;
        changed[i] = joined(others, " ");
        EXPECT_NE(with_tiles(changed), "") << lines[i] << " to " << changed[i];
        ++mutants;
      }
    }
  }
  EXPECT_GT(mutants, 50U);
}

TEST(TilesCertificate, FilesThatAreMissingOrSwapped) {
  for (const auto& [name, text] : good_files()) {
    Files fewer = good_files();
    fewer.erase(name);
    EXPECT_NE(objection_to_tiles(fewer), "") << name;
  }
  for (const std::string file : {"claims", "problem.loop"}) {
    Files swapped = good_files();
    std::swap(swapped.at("tile-1-pool-1/" + file), swapped.at("tile-3-pool-1/" + file));
    EXPECT_NE(objection_to_tiles(swapped), "") << file;
  }
  Files both = good_files();
  for (const std::string file : {"claims", "problem.loop"}) {
    std::swap(both.at("tile-1-pool-1/" + file), both.at("tile-3-pool-1/" + file));
  }
  EXPECT_EQ(objection_to_tiles(both).substr(0, 5), "hash:");
}

// A bound that is too high has no proof; a bound that is too low no longer rules the choice out.
TEST(TilesCertificate, BoundsThatAreOthers) {
  const std::string claims = good_files().at("tile-1-pool-1/claims");
  const std::size_t at = claims.find("at-least interval ");
  ASSERT_NE(at, std::string::npos) << claims;
  const std::size_t from = at + std::string("at-least interval ").size();
  const std::size_t to = claims.find(' ', from);
  const long long bound = std::stoll(claims.substr(from, to - from));
  for (const long long other : {bound + 1, 1LL}) {
    Files files = good_files();
    files["tile-1-pool-1/claims"] =
        claims.substr(0, from) + std::to_string(other) + claims.substr(to);
    EXPECT_NE(objection_to_tiles(files), "") << other;
  }
}

TEST(TilesCertificate, OtherMappingsAndMachines) {
  const std::string path = testing::TempDir() + "tiles_test_other.map";
  std::ofstream(path) << "map m for gemm on h200 { U = {64, 128} V = {64, 128, 256} W = 64 }";
  const auto other = check_tiles(good_files(), kTask, path, "");
  ASSERT_TRUE(other) << to_string(other.error());
  ASSERT_TRUE(other->rejection);
  EXPECT_EQ(other->rejection->reason.substr(0, 6), "input:");
}

}  // namespace
}  // namespace twill::driver
