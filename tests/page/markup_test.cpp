#include "twill/page/markup.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace twill::page {
namespace {

// Protects: a name given by a user cannot end a text, an attribute or a tag.
TEST(Markup, EscapesWhatHasAMeaning) {
  EXPECT_EQ(escaped("</title><script>alert('&\"')</script>"),
            "&lt;/title&gt;&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;");
}

// Protects: names in any script are shown as they are; bytes that are no text do no harm.
TEST(Markup, KeepsUtf8AndReplacesTheRest) {
  EXPECT_EQ(escaped("\xC3\xA4\xE2\x86\x92\xF0\x9F\x9A\x80\tx\n"),
            "\xC3\xA4\xE2\x86\x92\xF0\x9F\x9A\x80\tx\n");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(escaped("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(escaped(std::string_view("\0\x1B\x7F", 3)), bad + bad + bad);
  EXPECT_EQ(escaped("\xC0\xBC"), bad + bad) << "an overlong <";
  EXPECT_EQ(escaped("\xED\xA0\x80"), bad + bad + bad) << "a surrogate";
  EXPECT_EQ(escaped("\xE2\x86"), bad + bad) << "cut off";
  EXPECT_EQ(escaped("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond Unicode";
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// Protects the same for any bytes. The result is UTF-8, and escaping it as UTF-8 again changes no
// byte.
RC_GTEST_PROP(Markup, EscapesAnyBytes, (const std::string& bytes)) {
  const std::string text = escaped(bytes);
  RC_ASSERT(text.find_first_of("<>\"'") == std::string::npos);
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    RC_ASSERT(text.find(';', at) <= at + 5);
  }
  const std::string replacement = "\xEF\xBF\xBD";
  RC_ASSERT(occurrences(escaped(text), replacement) == occurrences(text, replacement));
}

// Protects: numbers in attributes are short, and the same everywhere.
TEST(Markup, WritesNumbersShort) {
  EXPECT_EQ(number(2421.80), "2421.8");
  EXPECT_EQ(number(2092), "2092");
  EXPECT_EQ(number(100), "100");
  EXPECT_EQ(number(-0.001), "0");
  EXPECT_EQ(number(1.0 / 3, 3), "0.333");
  EXPECT_EQ(percent(0.5), "50%");
}

// Protects: attributes are escaped, and empty ones are left out.
TEST(Markup, WritesElements) {
  Markup out;
  out.leaf("td", {{"class", ""}, {"title", "a\"b"}}, "x<y");
  EXPECT_EQ(out.str(), "<td title=\"a&quot;b\">x&lt;y</td>\n");
}

}  // namespace
}  // namespace twill::page
