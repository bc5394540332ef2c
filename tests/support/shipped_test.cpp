#include "twill/support/shipped.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace twill::support {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Sets TWILL_DATA_DIR for its lifetime.
class DataDir {
 public:
  explicit DataDir(const fs::path& folder) { ::setenv("TWILL_DATA_DIR", folder.c_str(), 1); }
  ~DataDir() { ::unsetenv("TWILL_DATA_DIR"); }
};

// Protects: every machine and every runtime header is in the library, byte for byte, for any name
// and folder.
TEST(Shipped, CarriesMachinesAndRuntimeByteForByte) {
  std::size_t files = 0;
  for (const char* folder : {"machines", "runtime"}) {
    const auto names = shipped_names(folder);
    ASSERT_TRUE(names.has_value());
    for (const auto& it : fs::recursive_directory_iterator(fs::path(TWILL_SOURCE_DIR) / folder)) {
      if (!it.is_regular_file()) continue;
      const std::string name = it.path().lexically_relative(TWILL_SOURCE_DIR).generic_string();
      EXPECT_TRUE(std::find(names->begin(), names->end(), name) != names->end()) << name;
      EXPECT_EQ(shipped_text(name).value(), text_of(it.path())) << name;
      ++files;
    }
    EXPECT_TRUE(std::is_sorted(names->begin(), names->end()));
  }
  EXPECT_EQ(files, shipped_names("machines")->size() + shipped_names("runtime")->size());
}

// Protects: a folder of the user's own goes first, file by file, and may add files that are not
// shipped.
TEST(Shipped, LetsAFolderOfTheUserGoFirst) {
  const fs::path own = fs::path(testing::TempDir()) / "twill_shipped_own";
  fs::create_directories(own / "machines");
  std::ofstream(own / "machines/h200.json") << "mine";
  std::ofstream(own / "machines/x1.json") << "new";
  const DataDir set(own);
  EXPECT_EQ(shipped_text("machines/h200.json").value(), "mine");
  EXPECT_EQ(shipped_text("machines/x1.json").value(), "new");
  EXPECT_EQ(shipped_text("machines/h100.json").value(),
            text_of(fs::path(TWILL_SOURCE_DIR) / "machines/h100.json"));
  const auto names = shipped_names("machines").value();
  EXPECT_EQ(std::count(names.begin(), names.end(), "machines/h200.json"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "machines/x1.json"), 1);
  fs::remove_all(own);
}

// Protects: a variable that names no folder is an error; it is not ignored.
TEST(Shipped, RefusesAFolderThatIsNone) {
  const DataDir set("/no/such/folder");
  for (const auto& wrong : {shipped_text("machines/h200.json").map([](const auto&) {}),
                            shipped_names("machines").map([](const auto&) {})}) {
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().location.file, "/no/such/folder");
  }
}

// Protects: a name that is not shipped is an error, whatever lies in the current folder.
TEST(Shipped, SaysWhichFileIsMissing) {
  const auto missing = shipped_text("machines/no-such-machine.json");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().location.file, "machines/no-such-machine.json");
  EXPECT_NE(missing.error().hint.find("TWILL_DATA_DIR"), std::string::npos);
  EXPECT_TRUE(shipped_names("machine")->empty());
}

}  // namespace
}  // namespace twill::support
