#include "twill/support/data_path.h"

#include <gtest/gtest.h>

namespace twill::support {
namespace {

// Protects: a program run from the build folder finds what the source tree ships, files and folders.
TEST(DataPath, FindsWhatTheSourceTreeShips) {
  const auto license = data_path("LICENSE");
  ASSERT_TRUE(license) << license.error().message;
  EXPECT_TRUE(std::filesystem::equivalent(*license, TWILL_SOURCE_DIR "/LICENSE"));
  EXPECT_TRUE(data_path("docs/decisions"));
}

// Protects: a name nobody ships is an error that says where Twill looked, not an empty path.
TEST(DataPath, SaysWhereItLookedForAMissingFile) {
  const auto missing = data_path("machines/no-such-machine.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().location.file, "machines/no-such-machine.json");
  EXPECT_NE(missing.error().hint.find(TWILL_SOURCE_DIR), std::string::npos);
}

}  // namespace
}  // namespace twill::support
