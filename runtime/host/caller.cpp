// The program that calls one emitted kernel: `program CALL RESULT`. It has the executor and all
// parts that kernels share; call.h has the part that differs by kernel. `twill run` writes CALL and
// reads RESULT.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "executor.cpp"
#include "run.h"

namespace {

/// The words of a call.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t word() {
    std::uint64_t value = 0;
    std::memcpy(&value, text(sizeof value), sizeof value);
    return value;
  }
  /// Bytes, padded to whole words.
  const char* text(std::size_t size) {
    const char* at = bytes_.data() + next_;
    next_ += (size + 7) / 8 * 8;
    if (next_ > bytes_.size()) {
      std::fprintf(stderr, "the call ends too early\n");
      std::exit(2);
    }
    return at;
  }

 private:
  std::string bytes_;
  std::size_t next_ = 0;
};

/// An array in global memory.
struct Array {
  unsigned char* first = nullptr;
  std::size_t bytes = 0;
};

/// Parameters, each a scalar or the address of an array's element 0, and the places of the arrays.
struct Arguments {
  std::vector<std::uint64_t> bits;
  std::vector<Array> arrays;
  int grid[3] = {};
};

/// Makes an array; `origin`: the address of its element 0.
Array read_array(Reader& reader, std::uint64_t& origin) {
  constexpr std::size_t kAlignment = 256;
  Array made;
  made.bytes = reader.word();
  const std::size_t offset = reader.word();
  const std::size_t length = reader.word();
  const std::string name(reader.text(length), length);
  // Element 0 is aligned; the elements before it may begin anywhere.
  const std::size_t lead = (kAlignment - offset % kAlignment) % kAlignment;
  made.first = static_cast<unsigned char*>(twill::run::allocate(lead + made.bytes)) + lead;
  origin = reinterpret_cast<std::uintptr_t>(made.first + offset);
  twill::run::add_buffer(made.first, made.bytes, name, false);
  const std::uint64_t stretches = reader.word();
  for (std::uint64_t i = 0; i < stretches; ++i) {
    const std::size_t begin = reader.word(), size = reader.word();
    std::memcpy(made.first + begin, reader.text(size), size);
    twill::run::set_initialised(made.first + begin, size, true);
  }
  return made;
}

Arguments read_arguments(Reader& reader) {
  Arguments read;
  twill::run::Options options;
  options.seed = reader.word();
  options.completion =
      reader.word() != 0 ? twill::run::Completion::random : twill::run::Completion::late;
  options.sm_count = static_cast<int>(reader.word());
  options.switch_at_memory = reader.word() != 0;
  twill::run::configure(options);
  for (int& extent : read.grid) extent = static_cast<int>(reader.word());
  read.bits.resize(reader.word());
  for (std::uint64_t& bits : read.bits) {
    if (reader.word() == 0) {
      bits = reader.word();
    } else {
      read.arrays.push_back(read_array(reader, bits));
    }
  }
  return read;
}

std::string in_one_line(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\t' ? ' ' : c;
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  Reader reader(std::string(std::istreambuf_iterator<char>(file), {}));
  const Arguments arguments = read_arguments(reader);
  twill::run::Call call;
  for (int i = 0; i < 3; ++i) call.grid[i] = arguments.grid[i];
  call.parameters = arguments.bits.size();
  call.bits = arguments.bits.data();
  const char* wrong = twill::run::call_kernel(call);
  std::ofstream result(argv[2], std::ios::binary);
  if (wrong != nullptr) result << "launch\t" << in_one_line(wrong) << "\n";
  for (const twill::run::Finding& it : twill::run::findings()) {
    result << "finding\t" << it.kind << "\t" << it.line << "\t" << it.times << "\t"
           << in_one_line(it.thread) << "\t" << in_one_line(it.message) << "\n";
  }
  result << "memory\n";
  for (const Array& it : arguments.arrays) {
    result.write(reinterpret_cast<const char*>(it.first), static_cast<std::streamsize>(it.bytes));
  }
  result.flush();
  return result ? 0 : 2;
}
