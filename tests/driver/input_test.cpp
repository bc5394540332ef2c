#include "twill/driver/input.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace twill::driver {
namespace {

// Known file names decide the form; otherwise the first line without a comment decides. `#` begins
// a comment in `.loop` texts and an alias in TTGIR: the `=` makes the difference.
TEST(FormOf, NamesThenContents) {
  const std::vector<std::pair<Input, Form>> cases = {
      {{"a.loop", "module"}, Form::loop},
      {{"a.ttgir", "loop x"}, Form::ttgir},
      {{"a.mlir", ""}, Form::ttgir},
      {{"-", "# a comment\n\n  loop x\n"}, Form::loop},
      {{"-", "# loop = one\nloop x\n"}, Form::loop},
      {{"-", "#blocked = #ttg.blocked<{}>\nmodule {}\n"}, Form::ttgir},
      {{"-", "// comment\nmodule {}\n"}, Form::ttgir},
      {{"-", "!t = f32\n"}, Form::ttgir},
      {{"-", "\n{\"format\": 1}"}, Form::schedule_json},
  };
  for (const auto& [input, form] : cases) {
    const auto found = form_of(input);
    ASSERT_TRUE(found) << input.text;
    EXPECT_EQ(*found, form) << input.text;
  }
}

// Text that is neither TTGIR nor `.loop` is refused, at the first line that shows this.
TEST(FormOf, RefusesWhatItDoesNotKnow) {
  const auto found = form_of({"x", "# comment\nhello\n"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().location.line, 2);
  EXPECT_FALSE(form_of({"x", "# only\n# comments\n"}));
}

}  // namespace
}  // namespace twill::driver
