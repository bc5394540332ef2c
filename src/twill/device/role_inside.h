#pragma once

#include <utility>

#include "twill/device/role.h"

/// Internal to the room: what a role knows while it builds the block of a region.
namespace twill::device {

/// Nodes of a block, and knowledge that holds in this block only.
class RoleBuilder::Inside {
 public:
  Inside(RoleBuilder& role, ir::OpId region, Nodes& nodes)
      : role_(role),
        now_(role.now_),
        made_(role.made_),
        invariant_(role.invariant_),
        relaid_(role.relaid_),
        elements_(role.elements_),
        counted_(role.counted_),
        inside_(role.inside_) {
    role.regions_.push_back(region);
    role.now_ = &nodes;
  }
  ~Inside() {
    role_.regions_.pop_back();
    role_.now_ = now_;
    role_.made_ = std::move(made_);
    role_.invariant_ = std::move(invariant_);
    role_.relaid_ = std::move(relaid_);
    role_.elements_ = std::move(elements_);
    role_.counted_ = std::move(counted_);
    role_.inside_ = std::move(inside_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  RoleBuilder& role_;
  Nodes* now_;
  decltype(RoleBuilder::made_) made_;
  decltype(RoleBuilder::invariant_) invariant_;
  decltype(RoleBuilder::relaid_) relaid_;
  decltype(RoleBuilder::elements_) elements_;
  decltype(RoleBuilder::counted_) counted_;
  decltype(RoleBuilder::inside_) inside_;
};

}  // namespace twill::device
