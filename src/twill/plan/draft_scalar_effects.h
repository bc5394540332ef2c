#pragma once

#include <optional>
#include <vector>

#include "twill/plan/draft.h"

/// Internal to the room: effects on scalars that one role has for all (PerTileOp::alone). Other
/// roles finish before the effect, or begin after it.
namespace twill::plan {

/// A step of a channel that counts tiles.
Step channel_step(StepKind kind, ChannelId channel, By by);

/// Adds channels and steps for effects on scalars. Each effect has a channel from each role that
/// must finish before it, and a channel to the roles that wait for it.
class ScalarEffects {
 public:
  /// Adds the channels to the plan.
  explicit ScalarEffects(Draft& draft);

  /// Steps of a role at the beginning of its `after`, before and after a per-tile op there, and at
  /// the end.
  void begin(RoleId role, std::vector<Step>& steps) const;
  void before(RoleId role, std::size_t per_tile_op, std::vector<Step>& steps) const;
  void behind(RoleId role, std::size_t per_tile_op, std::vector<Step>& steps) const;
  void end(RoleId role, std::vector<Step>& steps) const;

 private:
  struct Turn {
    std::size_t effect;  ///< the per-tile op
    RoleId by;
    std::vector<ChannelId> arrivals;  ///< one channel from each role that must finish before the
                                      ///< effect
  };

  void add(std::size_t effect);
  ChannelId add_channel(std::size_t effect, RoleId from, std::vector<RoleId> to);
  bool is_access(std::size_t per_tile_op, RoleId role) const;
  std::optional<std::size_t> last_before(const Turn& turn, RoleId role) const;
  std::optional<std::size_t> first_behind(const Turn& turn, RoleId role) const;
  void meet(RoleId role, std::vector<Step>& steps) const;
  void arrive(const Turn& turn, RoleId role, std::vector<Step>& steps) const;
  void learn(const Turn& turn, RoleId role, std::vector<Step>& steps) const;

  Plan& plan_;
  std::vector<Turn> turns_;
};

}  // namespace twill::plan
