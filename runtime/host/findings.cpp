#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <map>
#include <unistd.h>

#include "machine.h"

extern "C" const char __executable_start[];

namespace twill::run {

std::string text(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

namespace {

/// Source of an address of the program: its functions, from the innermost inlined function on.
struct Frame {
  std::string function, file;
  int line = 0;
};

std::uintptr_t image_base() {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(__executable_start);
  return header->e_type == ET_DYN ? reinterpret_cast<std::uintptr_t>(header) : 0;
}

std::vector<Frame> look_up(Pc at) {
  std::vector<Frame> frames;
  char self[512] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return frames;
  // A return address: the call precedes it.
  const std::string command = text("addr2line -e '%s' -f -i -C 0x%lx 2>/dev/null", self,
                                   static_cast<unsigned long>(at - image_base() - 1));
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return frames;
  char line[1024];
  const auto next = [&] { return std::fgets(line, sizeof line, pipe) != nullptr; };
  while (next()) {
    Frame frame;
    frame.function = line;
    while (!frame.function.empty() && frame.function.back() == '\n') frame.function.pop_back();
    if (!next()) break;
    frame.file = line;
    const std::size_t colon = frame.file.rfind(':');
    if (colon != std::string::npos) {
      frame.line = std::atoi(frame.file.c_str() + colon + 1);
      frame.file.resize(colon);
    }
    if (frame.file != "??") frames.push_back(frame);
  }
  pclose(pipe);
  return frames;
}

const std::vector<Frame>& frames_of(Pc at) {
  static std::map<Pc, std::vector<Frame>> known;
  const auto found = known.find(at);
  if (found != known.end()) return found->second;
  return known[at] = look_up(at);
}

/// The innermost function outside the runtime.
const Frame* frame_of(Pc at) {
  for (const Frame& frame : frames_of(at)) {
    const bool runtime = frame.file.find("runtime/") != std::string::npos &&
                         frame.file.find(".cuh") != std::string::npos;
    const bool host = frame.file.find("cuda_") != std::string::npos;
    if (!runtime && !host && frame.line > 0) return &frame;
  }
  return nullptr;
}

/// "role_WG0" for a function of the printed text; empty for other functions.
std::string role_of(Pc at) {
  for (const Frame& frame : frames_of(at)) {
    const std::size_t role = frame.function.find("role_");
    if (role == std::string::npos) continue;
    return frame.function.substr(role, frame.function.find('(', role) - role);
  }
  return "";
}

std::string name_of(const Thread& thread, Pc at) {
  const Cta& cta = cta_of(thread);
  const std::string role = role_of(at);
  return text("CTA (%u, %u, %u), warp %d%s, lane %d", cta.block.x, cta.block.y, cta.block.z,
              thread.in_cta / kWarp, role.empty() ? "" : (" (" + role + ")").c_str(), thread.lane);
}

}  // namespace

std::string line_of(Pc at) {
  const Frame* frame = at == 0 ? nullptr : frame_of(at);
  return frame == nullptr ? "" : text("line %d", frame->line);
}

void find(const char* kind, Pc at, const std::string& message, const Thread* thread) {
  for (Found& it : m.found) {
    // In a deadlock, every thread that waits for another event counts.
    if (it.kind != kind || it.at != at || (it.kind == "deadlock" && it.message != message))
      continue;
    ++it.times;
    return;
  }
  if (static_cast<int>(m.found.size()) >= m.options.most_findings) {
    ++m.kinds_left_out;
    return;
  }
  if (thread == nullptr && m.now >= 0) thread = &now();
  m.found.push_back({kind, message, thread == nullptr ? "" : name_of(*thread, at), at, 1});
}

void find_and_stop(const char* kind, Pc at, const std::string& message) {
  find(kind, at, message);
  leave_launch();
}

std::vector<Finding> findings() {
  std::vector<Finding> all;
  for (const Found& it : m.found) {
    Finding finding{it.kind, it.message, "", 0, it.thread, it.times};
    if (const Frame* frame = it.at == 0 ? nullptr : frame_of(it.at)) {
      finding.file = frame->file;
      finding.line = frame->line;
    }
    // A line may have several places in the machine code.
    const auto same = std::find_if(all.begin(), all.end(), [&](const Finding& other) {
      return other.line > 0 && other.line == finding.line && other.file == finding.file &&
             other.kind == finding.kind && it.kind != "deadlock";
    });
    if (same != all.end()) {
      same->times += finding.times;
    } else {
      all.push_back(finding);
    }
  }
  return all;
}

int finish(std::FILE* out) {
  for (const Finding& it : findings()) {
    if (it.line > 0) std::fprintf(out, "%s:%d: ", it.file.c_str(), it.line);
    std::fprintf(out, "%s: %s", it.kind.c_str(), it.message.c_str());
    if (!it.thread.empty()) std::fprintf(out, " [%s]", it.thread.c_str());
    if (it.times > 1) std::fprintf(out, " (%d times)", it.times);
    std::fprintf(out, "\n");
  }
  if (m.kinds_left_out > 0) std::fprintf(out, "%d further findings\n", m.kinds_left_out);
  return m.found.empty() ? 0 : 1;
}

}  // namespace twill::run
