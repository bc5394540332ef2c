#include "twill/certify/files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/certify/certificate.h"
#include "twill/certify/pools.h"
#include "twill/schedule/loop_text.h"

/// Conversion between files and certificates.
namespace twill::certify {
namespace {

Result<const std::string*> text_of(const Files& files, const std::string& name) {
  const auto found = files.find(name);
  if (found == files.end()) return fail({name}, "is missing");
  return &found->second;
}

std::vector<const Reason*> reasons_of(const Claims& claims) {
  std::vector<const Reason*> out;
  for (const Case& it : claims.cases) {
    for (const AtLeast& bound : it.bounds) out.push_back(&bound.reason);
    if (it.with_room) out.push_back(&it.with_room->reason);
    if (it.never) out.push_back(&*it.never);
  }
  return out;
}

/// Reads the certificate whose files' names begin with `folder`.
Result<Certificate> read_certificate(const Files& files, const std::string& folder) {
  const std::string problem_file = folder + std::string(kProblemFile);
  const std::string claims_file = folder + std::string(kClaimsFile);
  TWILL_TRY(const std::string* problem_text, text_of(files, problem_file));
  TWILL_TRY(const std::string* claims_text, text_of(files, claims_file));
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(*problem_text, problem_file));
  TWILL_TRY(Claims claims, parse_claims(*claims_text, claims_file, loop.problem));
  Certificate out{std::move(loop.problem), std::move(loop.schedule), std::move(claims), {}};
  for (const Reason* reason : reasons_of(out.claims)) {
    if (reason->kind != Reason::Kind::proof || out.proofs.contains(reason->file)) continue;
    TWILL_TRY(const std::string* text, text_of(files, folder + reason->file));
    TWILL_TRY(Proof proof, parse_proof(*text, folder + reason->file, out.problem));
    out.proofs.emplace(reason->file, std::move(proof));
  }
  return out;
}

/// Checks the certificates of some pools, one by one, up to the first rejection. Adds the accepted
/// claims to `lines`.
Result<std::vector<Checked>> check_each(const Files& files, const std::vector<PoolClaim>& pools,
                                        std::string_view what, std::vector<std::string>& lines) {
  std::vector<Checked> out;
  for (const PoolClaim& pool : pools) {
    TWILL_TRY(Checked checked, check_folder(files, pool.folder + "/"));
    out.push_back(std::move(checked));
    if (out.back().rejection) return out;
    lines.push_back(fmt::format("{:<10} {}", what, pool.pool));
    for (const std::string& line : out.back().lines) lines.push_back("  " + line);
  }
  return out;
}

constexpr std::string_view kNotChecked = ", input not checked";

Result<Checked> check_pools(const Files& files, const Provenance* anew) {
  const std::string file(kPoolsFile);
  TWILL_TRY(const PoolClaims claims, parse_pools(files.at(file), file));
  Checked out;
  std::string objection = anew == nullptr ? "" : objection_to_provenance(claims.from, *anew);
  if (!objection.empty()) {
    out.rejection = Rejection{file, 0, objection};
    return out;
  }
  TWILL_TRY(std::vector<Checked> pools, check_each(files, claims.pools, "pool", out.lines));
  if (!pools.empty() && pools.back().rejection) return std::move(pools.back());
  TWILL_TRY(std::vector<Checked> fastest,
            check_each(files, claims.at_fastest, "fastest", out.lines));
  if (!fastest.empty() && fastest.back().rejection) return std::move(fastest.back());
  objection = objection_to(claims, pools, fastest);
  if (!objection.empty()) {
    out.rejection = Rejection{file, 0, objection};
    return out;
  }
  out.verdict = claims.verdict;
  for (std::string& line : lines_of(claims)) out.lines.push_back(std::move(line));
  out.lines.back() += anew == nullptr ? kNotChecked : ", posed anew from the input";
  return out;
}

/// Checks a certificate whose Problem is a `.loop` text.
Result<Checked> check_loop(const Files& files, const Provenance* anew) {
  TWILL_TRY(const Certificate certificate, read_certificate(files, ""));
  if (anew != nullptr) {
    Provenance claimed = *anew;
    claimed.posed = {{"slowest", "-", certificate.claims.hash}};
    const std::string objection = objection_to_provenance(claimed, *anew);
    if (!objection.empty()) {
      Checked out;
      out.rejection = Rejection{std::string(kClaimsFile), 0, objection};
      return out;
    }
  }
  Checked out = check_certificate(certificate);
  if (out.rejection) return out;
  out.lines.push_back(fmt::format("together   {}{}", schedule::name_of(out.verdict),
                                  anew == nullptr ? kNotChecked : ", the problem is the input's"));
  return out;
}

}  // namespace

Result<Checked> check_folder(const Files& files, const std::string& folder) {
  TWILL_TRY(const Certificate certificate, read_certificate(files, folder));
  Checked checked = check_certificate(certificate);
  checked.loop = loop_of(certificate.problem);
  if (checked.rejection) checked.rejection->file = folder + checked.rejection->file;
  return checked;
}

Files print_certificate(const Certificate& it) {
  Files files;
  files.emplace(kProblemFile,
                schedule::print_loop(schedule::loop_text_of(it.problem, it.schedule)));
  files.emplace(kClaimsFile, print_claims(it.claims, it.problem));
  for (const auto& [file, proof] : it.proofs) files.emplace(file, print_proof(proof, it.problem));
  return files;
}

Result<Provenance> provenance_of(const Files& files) {
  const auto found = files.find(std::string(kPoolsFile));
  if (found == files.end()) return Provenance{};
  TWILL_TRY(PoolClaims claims, parse_pools(found->second, found->first));
  return std::move(claims.from);
}

Result<Checked> check_files(const Files& files, const Provenance* anew) {
  return files.contains(std::string(kPoolsFile)) ? check_pools(files, anew)
                                                 : check_loop(files, anew);
}

}  // namespace twill::certify
