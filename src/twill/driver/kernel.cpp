#include "twill/driver/kernel.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/levels.h"
#include "twill/driver/stated.h"
#include "twill/extract/extract.h"
#include "twill/extract/memory_order.h"
#include "twill/frontend/ttgir/counted_whiles.h"
#include "twill/frontend/ttgir/flat_nests.h"
#include "twill/frontend/ttgir/merge_equal.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/source_of_line.h"
#include "twill/frontend/ttgir/straight_carries.h"
#include "twill/frontend/ttgir/unflatten.h"
#include "twill/frontend/ttgir/without_unread.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"
#include "twill/plan/json.h"
#include "twill/problem/problem.h"

namespace twill::driver {
namespace {

/// The machine that the request or a mapping names; else a shipped machine of the architecture for
/// which the kernel was compiled.
Result<machine::Machine> machine_for(const Request& request, const ir::Program& program,
                                     const frontend::Stated& stated) {
  if (!request.machine.empty()) {
    TWILL_TRY(machine::Machine machine, find_machine(request.machine));
    TWILL_TRY_VOID(check_machine(request, machine, stated));
    return machine;
  }
  if (!stated.machine.empty()) return find_machine(stated.machine);
  const std::optional<int> target = ir::launch_traits(program).cuda_target;
  if (target == 90) return find_machine(kHopper);
  if (target == 100) return find_machine("b200");
  if (!target) {
    return fail({request.input.name}, "the module names no CUDA target",
                "choose one with --machine");
  }
  return fail(
      {request.input.name},
      fmt::format("the kernel was compiled for sm_{}, and only Hopper (sm_90) and Blackwell "
                  "(sm_100) are known",
                  *target),
      "compile it for one of these, which takes no such GPU: "
      "docs/howto/ttgir-from-triton.md");
}

/// Fails for TTIR, whose tiles have no layouts. Layouts decide whether a product can use the tensor
/// core, and where its operands lie.
Result<void> check_layouts(const ir::Program& program, ir::OpId loop) {
  for (const ir::OpId id : ir::walk(program, loop)) {
    if (program.op(id).kind != ir::OpKind::mma) continue;  // other products name their instruction
    const auto product = ir::mma_operands(program.op(id));
    if (!product || ir::type_of(program, product->accumulator)->encoding != nullptr) continue;
    return fail(ir::text_location(program, id),
                "the tiles of this product have no layouts: this is TTIR, and not TTGIR yet",
                "take the module from before TritonGPUAssignLatencies: "
                "docs/howto/ttgir-from-triton.md");
  }
  return {};
}

Result<std::vector<std::string>> pools_for(const Request& request,
                                           const machine::Machine& machine) {
  if (machine.pool_named(request.pool) != nullptr) return std::vector{request.pool};
  std::vector<std::string> names;
  std::vector<std::string> usual;
  for (const machine::Pool& pool : machine->pools) {
    names.push_back(pool.name);
    if (!pool.last_resort) usual.push_back(pool.name);
  }
  if (request.pool.empty()) return usual.empty() ? names : usual;
  return fail({}, fmt::format("machine {} has no pool named '{}'", machine->name, request.pool),
              fmt::format("it has {}", fmt::join(names, ", ")));
}

/// Appends warnings that are not in the list yet: the pools of a machine mostly give the same
/// warnings.
void merge(std::vector<Diagnostic>& warnings, const std::vector<Diagnostic>& more) {
  for (const Diagnostic& warning : more) {
    const bool known = std::any_of(warnings.begin(), warnings.end(), [&](const Diagnostic& w) {
      return w.location == warning.location && w.message == warning.message;
    });
    if (!known) warnings.push_back(warning);
  }
}

std::string nest_in_words(int line) {
  return fmt::format(
      "the loop at line {} goes through the steps of one tile after the other; it is taken as a "
      "loop over steps in a loop over tiles, both at that line",
      line);
}

std::size_t count_tile_ops(const ir::Program& program) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < program.op_count(); ++i) {
    const auto& results = program.op(ir::OpId(i)).results;
    if (results.empty()) continue;
    const ir::Type type = ir::type_of(program, results.front());
    count += ir::is_tensor(type) || type->kind == ir::TypeKind::memdesc ? 1U : 0U;
  }
  return count;
}

/// Removes ops without effects whose results are never read, as Triton does. The note counts such
/// ops on tiles.
std::optional<std::string> leave_out_unread(ir::Program& program) {
  ir::Program read = frontend::ttgir::without_unread(program);
  const std::size_t less = count_tile_ops(program) - count_tile_ops(read);
  program = std::move(read);
  if (less == 0) return std::nullopt;
  return fmt::format("left out: {} op{} whose results have no reader", less, less == 1 ? "" : "s");
}

/// The extraction, made at most once per kernel.
const Result<extract::Extraction>& extraction_of(const Kernel& kernel, const Request& request,
                                                 const std::string& pool, machine::Rate rate) {
  const auto [at, fresh] = kernel.extracted->try_emplace(
      {pool, rate, request.subtile, request.strict, request.transfers, kernel.load_latency},
      tl::unexpected(Diagnostic{}));
  if (!fresh) return at->second;
  if (request.on_step) request.on_step("extract " + pool + " " + report::name_of(rate));
  const extract::Options options{request.subtile,    pool, rate, request.strict, request.transfers,
                                 kernel.load_latency};
  at->second = extract::extract(kernel.program, kernel.choice.loop, kernel.machine, options);
  return at->second;
}

/// Place in the user's source, "silu.py:17"; empty if unknown.
std::string source_line(const ir::Program& program, ir::OpId op) {
  const auto where = ir::source_location(program, op);
  if (!where || where->line <= 0) return "";
  const std::filesystem::path file(where->file);
  return fmt::format("{}:{}", file.filename().string(), where->line);
}

/// Diagnostic for a plan or schedule JSON given where a loop is expected.
tl::unexpected<Diagnostic> no_loop(const Input& input) {
  if (plan::is_plan_json(input.text)) {
    return fail({input.name}, "it is a plan, not a loop",
                "`twill plan --check` proves it again, `twill simulate` runs it");
  }
  return fail({input.name}, "it is JSON: a schedule perhaps, but not a loop",
              "`twill verify` checks a schedule");
}

/// A merged op in words: "OP @ 161:12 and 162:14 (attn.py:31)".
std::string merged_in_words(const ir::Program& program, const frontend::ttgir::MergedOp& merged) {
  const ir::Op& kept = program.op(merged.kept);
  const ir::Op& removed = program.op(merged.removed);
  std::string words = fmt::format("{} @ {}:{} and {}:{}", program.op(merged.removed).name,
                                  kept.line, kept.column, removed.line, removed.column);
  if (const auto source = ir::source_location(program, merged.removed)) {
    words += fmt::format(" ({}:{})", source->file, source->line);
  }
  return words;
}

/// One sentence on all merged ops, the largest tiles first.
std::string merged_in_words(const ir::Program& program,
                            std::vector<frontend::ttgir::MergedOp> ops) {
  constexpr std::size_t kMostListed = 8;
  std::stable_sort(
      ops.begin(), ops.end(),
      [&](const frontend::ttgir::MergedOp& a, const frontend::ttgir::MergedOp& b) {
        const auto elements = [&](const frontend::ttgir::MergedOp& merged) {
          return ir::element_count(ir::type_of(program, program.op(merged.removed).operands[0]));
        };
        return elements(a) > elements(b);
      });
  std::vector<std::string> words;
  for (const frontend::ttgir::MergedOp& merged : ops)
    words.push_back(merged_in_words(program, merged));
  const std::size_t listed = std::min(words.size(), kMostListed);
  return fmt::format(
      "these compute the same values, mostly in two layouts, and are merged: {}{}",
      fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
      words.size() > listed ? fmt::format(" and {} more", words.size() - listed) : "");
}

}  // namespace

tl::unexpected<Diagnostic> refused_in_source(const Request& request, Diagnostic why) {
  const bool is_source = request.input.tasks || is_tasks(request.input);
  if (request.input.tasks && why.source_line.empty() &&
      why.location.file == request.input.tasks->file) {
    why.source_line = line_of(request.input.tasks->text, why.location.line);
  }
  if (!is_source && why.location.file == request.input.name) {
    why.message =
        frontend::ttgir::with_source(std::move(why.message), request.input.text, why.location.line);
  }
  return tl::unexpected(std::move(why));
}

Diagnostic at_loop(const Request& request, const Reading& reading, Diagnostic why) {
  why.location.file = request.input.name;
  if (!reading.kernel || request.input.tasks) return why;
  const ir::OpId loop = reading.kernel->choice.loop;
  why.location = ir::text_location(reading.kernel->program, loop);
  why.message += ir::source_words(reading.kernel->program, loop);
  if (why.hint.empty()) why.hint = "`twill compare` says which strategies have a plan";
  return why;
}

Result<Reading> read_once(const Request& request) {
  Reading reading;
  TWILL_TRY(reading.form, form_of(request.input));
  if (reading.form == Form::schedule_json) return no_loop(request.input);
  if (reading.form == Form::ttgir) {
    auto kernel = read_kernel(request);
    if (!kernel) return refused_in_source(request, std::move(kernel).error());
    reading.kernel = *std::move(kernel);
    return reading;
  }
  if (request.on_step) request.on_step("read");
  TWILL_TRY(reading.loop, schedule::parse_loop(request.input.text, request.input.name));
  return reading;
}

const Kernel* kernel_of(const Reading& reading, const report::Outcome& outcome) {
  return reading.kernel && !outcome.machine.empty() ? &*reading.kernel : nullptr;
}

Kernel with_pool(const Kernel& kernel, const std::string& pool) {
  Kernel out = kernel;
  out.pools = {pool};
  return out;
}

std::optional<Kernel> with_last_resort(const Kernel& kernel) {
  Kernel out = kernel;
  out.pools.clear();
  for (const machine::Pool& pool : kernel.machine->pools) {
    if (pool.last_resort) out.pools.push_back(pool.name);
  }
  if (out.pools.empty() || out.pools == kernel.pools) return std::nullopt;
  return out;
}

Kernel with_load_latency(const Kernel& kernel) {
  Kernel out = kernel;
  out.load_latency = true;
  return out;
}

std::vector<Reading> with_share_of_memory(const Reading& reading, double share) {
  std::vector<Reading> out;
  if (reading.kernel) {
    Kernel smaller = *reading.kernel;
    smaller.machine = machine::with_share_of_memory(smaller.machine, share);
    smaller.extracted = std::make_shared<Extractions>();
    for (const std::string& pool : smaller.pools) {
      out.push_back(reading);
      out.back().kernel = with_pool(smaller, pool);
    }
    return out;
  }
  problem::Parts parts = reading.loop->problem.parts();
  for (problem::Memory& it : parts.memories) {
    const auto part = static_cast<Amount>(static_cast<double>(it.capacity) * share);
    if (it.name != "TMEM") it.capacity = std::max<Amount>(part, 1);
  }
  out.push_back(reading);
  // A Problem with less memory is valid.
  out.back().loop->problem = problem::pose(std::move(parts)).value();
  return out;
}

Result<Kernel> read_kernel(const Request& request) {
  if (request.on_step) request.on_step("read");
  TWILL_TRY(ir::Program program, frontend::read_ttgir(request.input.text, request.input.name));
  std::vector<std::string> notes;
  if (auto nested = frontend::ttgir::unflatten(program)) {
    for (const int line : nested->lines) notes.push_back(nest_in_words(line));
    program = std::move(nested->program);
  }
  if (auto counted = frontend::ttgir::counted_whiles(program, frontend::ttgir::Whiles::innermost)) {
    program = *std::move(counted);
  }
  if (auto flat = frontend::ttgir::flat_nests(program)) {
    notes.emplace_back("loops that add to the same tiles are planned as one");
    program = *std::move(flat);
  }
  if (auto straight = frontend::ttgir::straight_carries(program)) program = *std::move(straight);
  if (auto merged = frontend::ttgir::merge_equal(program)) {
    if (!merged->ops.empty()) notes.push_back(merged_in_words(program, merged->ops));
    program = std::move(merged->program);
  }
  TWILL_TRY(extract::LoopChoice choice, extract::choose_loop(program, request.loop));
  TWILL_TRY_VOID(check_layouts(program, choice.loop));
  if (auto note = leave_out_unread(program)) notes.push_back(*std::move(note));
  TWILL_TRY(choice, extract::choose_loop(program, request.loop));
  frontend::Stated stated = frontend::stated_by_mapping(program, choice.loop);
  TWILL_TRY(machine::Machine named, machine_for(request, program, stated));
  machine::Machine machine =
      machine::keeping_free(machine::shared_by(std::move(named), request.ctas_per_sm.value_or(1)),
                            request.spare_registers);
  if (machine->pools.empty()) {
    return fail({},
                fmt::format("{} has no pool of warp groups for {} CTAs an SM", machine->name,
                            request.ctas_per_sm.value_or(1)),
                "leave out --ctas-per-sm");
  }
  TWILL_TRY(std::vector<std::string> pools, pools_for(request, machine));
  if (!request.already_pipelined && extract::is_already_pipelined(program, choice.loop)) {
    return fail(ir::text_location(program, choice.loop),
                "the loop is already pipelined: an answer would be about Triton's pipeline",
                "use the TTGIR from before Triton's scheduling passes "
                "(docs/howto/ttgir-from-triton.md), or --already-pipelined: its rings count as "
                "single buffers then");
  }
  const auto apart = extract::assumed_apart(program, choice.loop);
  if (request.may_overlap && apart) {
    return fail(ir::text_location(program, choice.loop),
                "arguments may be one array, but a plan of this loop " + *apart +
                    ir::source_words(program, choice.loop),
                "leave out --may-overlap if they do not");
  }
  if (extract::copies_by_threads(program, choice.loop)) {
    machine = machine::with_copying_warpgroup(std::move(machine));
  }
  std::optional<machine::Machine> unlimited;
  if (stated.shared) {
    unlimited = machine;
    TWILL_TRY(machine, within_limit(std::move(machine), *stated.shared));
  }
  return Kernel{std::move(program), choice,
                std::move(machine), std::move(pools),
                std::move(notes),   request.load_latency,
                std::move(stated),  std::move(unlimited)};
}

std::string loop_in_words(const Kernel& kernel) {
  return fmt::format("loop {} of {}, line {}", kernel.choice.number,
                     extract::loops_of(kernel.program).size(),
                     ir::text_location(kernel.program, kernel.choice.loop).line);
}

const PosedPool* pool_named(const PosedKernel& posed, std::string_view name) {
  const auto found = std::find_if(posed.pools.begin(), posed.pools.end(),
                                  [&](const PosedPool& pool) { return pool.pool == name; });
  return found == posed.pools.end() ? nullptr : &*found;
}

Result<PosedKernel> pose_kernel(const Kernel& kernel, const Request& request, machine::Rate rate) {
  PosedKernel posed;
  std::optional<Diagnostic> first_failure;
  for (const std::string& pool : kernel.pools) {
    const Result<extract::Extraction>& extraction = extraction_of(kernel, request, pool, rate);
    if (!extraction) {
      posed.left_out.push_back({pool, extraction.error().message});
      if (!first_failure) first_failure = extraction.error();
      continue;
    }
    merge(posed.warnings, extraction->warnings);
    posed.live_only = extraction->live_only;
    std::vector<std::string> notes = kernel.notes;
    notes.insert(notes.end(), extraction->notes.begin(), extraction->notes.end());
    posed.pools.push_back(
        {pool, extraction->problem, extraction->origins, std::move(notes), extraction->reserved});
  }
  if (posed.pools.empty()) return refused_in_source(request, *std::move(first_failure));
  return posed;
}

std::string loop_source(const Kernel& kernel) {
  const Location place = ir::text_location(kernel.program, kernel.choice.loop);
  if (place == ir::source_location(kernel.program, kernel.choice.loop)) return "";
  return source_line(kernel.program, kernel.choice.loop);
}

std::vector<std::string> source_lines(const ir::Program& program,
                                      const std::vector<extract::OpOrigin>& origins) {
  std::vector<std::string> lines;
  for (const extract::OpOrigin& origin : origins) {
    std::string& line = lines.emplace_back();
    for (const extract::Source& source : origin.sources) {
      if (line.empty()) line = source_line(program, source.op);
    }
  }
  return lines;
}

Result<PosedLoop> pose_reading(const Request& request, const Reading& reading, machine::Rate rate) {
  std::optional<PosedLoop> posed;
  if (reading.kernel) {
    TWILL_TRY(PosedKernel of_kernel, pose_kernel(*reading.kernel, request, rate));
    PosedPool& first = of_kernel.pools.front();
    posed =
        PosedLoop{std::move(first.problem), std::move(of_kernel.warnings), std::move(first.pool)};
  } else {
    posed = PosedLoop{reading.loop->problem, {}};
  }
  if (!request.normalize) return *std::move(posed);
  auto normalized = problem::normalize(posed->problem, *request.normalize);
  if (!normalized) return fail({request.input.name}, normalized.error().message);
  const std::string what = problem::in_words(*request.normalize, normalized->costs);
  posed->warnings.push_back({{request.input.name}, what, "", ""});
  posed->problem = std::move(normalized->problem);
  posed->pool.clear();  // the Problem that `twill schedule --normalize` solves
  return *std::move(posed);
}

std::optional<std::string> products_elsewhere(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  const std::vector<ir::OpId> inside = ir::walk(program, kernel.choice.loop);
  const std::set<ir::OpId> planned(inside.begin(), inside.end());
  std::vector<std::string> others;
  for (std::size_t i = 0; i < program.op_count(); ++i) {
    const ir::OpId id(i);
    if (!ir::mma_operands(program.op(id)) || planned.contains(id)) continue;
    others.push_back(ir::op_words(program, id));
  }
  if (others.empty()) return std::nullopt;
  return fmt::format("not planned, and not pipelined: products outside of the loop ({})",
                     fmt::join(others, ", "));
}

}  // namespace twill::driver
