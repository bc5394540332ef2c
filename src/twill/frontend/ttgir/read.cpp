#include "twill/frontend/ttgir/read.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "twill/frontend/ttgir/op_reader.h"
#include "twill/frontend/ttgir/source_of_line.h"
#include "twill/frontend/ttgir/structure.h"

namespace twill::frontend {

namespace {

Result<ir::Program> read_whole(std::string_view text, std::string file_name) {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
    return fail({std::move(file_name), 0, 0}, "the text is larger than 4 GiB");
  }
  ttgir::Cursor cursor(text, file_name);
  ir::ProgramBuilder builder(std::move(file_name));
  ttgir::AttributeReader attributes(cursor, builder.types());
  ttgir::OpReader reader(cursor, attributes, builder);
  TWILL_TRY_VOID(reader.read());
  ir::Program program = std::move(builder).finish();
  if (auto sound = frontend::ttgir::check_structure(program); !sound) {
    Diagnostic diagnostic = std::move(sound).error();
    diagnostic.source_line = line_of(text, diagnostic.location.line);
    return tl::unexpected(std::move(diagnostic));
  }
  return program;
}

}  // namespace

Result<ir::Program> read_ttgir(std::string_view text, std::string file_name) {
  auto program = read_whole(text, std::move(file_name));
  if (!program) {
    Diagnostic& why = program.error();
    why.message = ttgir::with_source(std::move(why.message), text, why.location.line);
  }
  return program;
}

bool begins_ttgir(std::string_view line) {
  constexpr std::array<std::string_view, 5> kBegins = {"module", "builtin.module", "tt.func",
                                                       "func.func", "\"builtin.module\""};
  if (std::any_of(kBegins.begin(), kBegins.end(),
                  [&](std::string_view begin) { return line.starts_with(begin); })) {
    return true;
  }
  const bool named = line.starts_with('#') || line.starts_with('!');
  const std::size_t end = line.find_first_of(" \t=");
  if (!named || end == std::string_view::npos || end < 2) return false;
  const std::size_t next = line.find_first_not_of(" \t\r", end);
  return next != std::string_view::npos && line[next] == '=';
}

}  // namespace twill::frontend
