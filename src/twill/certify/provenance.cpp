#include "twill/certify/provenance.h"

#include <algorithm>

#include <fmt/format.h>

namespace twill::certify {
namespace {

bool is_hash(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<std::string> hash_in(WordReader& in) {
  std::string hash(in.word());
  if (is_hash(hash)) return hash;
  return in.fail(fmt::format("{} is no SHA-256 in hexadecimal digits", quoted(hash)));
}

/// Names a posed Problem: "pool 2x64 at the slowest rates".
std::string in_words(const PosedProblem& it) {
  return fmt::format("pool {} at the {} rates", it.pool, it.rate);
}

Result<PosedProblem> posed_in(WordReader& in, const Provenance& before) {
  PosedProblem it;
  TWILL_TRY(it.rate, rate_in(in));
  TWILL_TRY(it.hash, hash_in(in));
  it.pool = rest_of(in);
  if (it.pool.empty()) return in.fail("the name of a pool is missing");
  if (before.hash_of(it.rate, it.pool) == nullptr) return it;
  return in.fail(in_words(it) + " stands there twice");
}

}  // namespace

Result<std::string> rate_in(WordReader& in) {
  std::string rate(in.word());
  if (rate == "fastest" || rate == "slowest") return rate;
  return in.fail(fmt::format("{} is neither `fastest` nor `slowest`", quoted(rate)));
}

const std::string* Provenance::hash_of(const std::string& rate, const std::string& pool) const {
  const auto found = std::find_if(posed.begin(), posed.end(), [&](const PosedProblem& it) {
    return it.rate == rate && it.pool == pool;
  });
  return found == posed.end() ? nullptr : &found->hash;
}

std::string objection_to_provenance(const Provenance& claimed, const Provenance& anew) {
  if (claimed.input != anew.input) {
    return fmt::format("input: the certificate is about a text with SHA-256 {}, this one has {}",
                       claimed.input, anew.input);
  }
  if (claimed.machine != anew.machine || claimed.machine_hash != anew.machine_hash) {
    return fmt::format(
        "machine: the certificate is about {} with SHA-256 {}, this one is {} with {}",
        claimed.machine, claimed.machine_hash, anew.machine, anew.machine_hash);
  }
  for (const PosedProblem& it : anew.posed) {
    const std::string* hash = claimed.hash_of(it.rate, it.pool);
    if (hash == nullptr) {
      return fmt::format("anew: {} is posed, and is not in the certificate", in_words(it));
    }
    if (*hash == it.hash) continue;
    return fmt::format("anew: {} is posed as the problem {}, the certificate has {}", in_words(it),
                       it.hash, *hash);
  }
  for (const PosedProblem& it : claimed.posed) {
    if (anew.hash_of(it.rate, it.pool) != nullptr) continue;
    return fmt::format("anew: {} is not posed", in_words(it));
  }
  return {};
}

std::string print_provenance(const Provenance& it) {
  std::string out = "input " + it.input + "\n";
  if (!it.machine.empty()) out += fmt::format("machine {} {}\n", it.machine_hash, it.machine);
  for (const PosingOption& option : it.options) {
    out += "option " + option.name + (option.value.empty() ? "" : " " + option.value) + "\n";
  }
  for (const PosedProblem& posed : it.posed) {
    out += fmt::format("posed {} {} {}\n", posed.rate, posed.hash, posed.pool);
  }
  return out;
}

Result<bool> read_provenance_line(WordReader& in, std::string_view word, Provenance& out) {
  if (word == "input") {
    if (!out.input.empty()) return in.fail("there is a line `input` already");
    TWILL_TRY(out.input, hash_in(in));
  } else if (word == "machine") {
    if (!out.machine.empty()) return in.fail("there is a line `machine` already");
    TWILL_TRY(out.machine_hash, hash_in(in));
    out.machine = rest_of(in);
    if (out.machine.empty()) return in.fail("the name of the machine is missing");
  } else if (word == "option") {
    PosingOption option;
    option.name = in.word();
    option.value = rest_of(in);
    const bool twice = std::any_of(out.options.begin(), out.options.end(),
                                   [&](const PosingOption& it) { return it.name == option.name; });
    if (twice) return in.fail(fmt::format("option {} is listed twice", quoted(option.name)));
    out.options.push_back(std::move(option));
  } else if (word == "posed") {
    TWILL_TRY(PosedProblem posed, posed_in(in, out));
    out.posed.push_back(std::move(posed));
  } else {
    return false;
  }
  return true;
}

}  // namespace twill::certify
