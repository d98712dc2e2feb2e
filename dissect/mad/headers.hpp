// Every field table of a management datagram, in one list for the registry.
#pragma once

#include <dissect/mad/administration.hpp>
#include <dissect/mad/cm.hpp>
#include <dissect/mad/forwarding.hpp>
#include <dissect/mad/mad.hpp>
#include <dissect/mad/notice.hpp>
#include <dissect/mad/performance.hpp>
#include <dissect/mad/records.hpp>
#include <dissect/mad/subnet.hpp>

#include <algorithm>

namespace qps::dissect {

inline constexpr auto kMadHeaders = [] {
    std::array<Header, kCommonMadHeaders.size() + kSubnetHeaders.size() + kAdministrationHeaders.size() +
                           kPerformanceHeaders.size() + kCmHeaders.size() + kNoticeHeaders.size() +
                           kForwardingHeaders.size() + kRecordHeaders.size()>
        all{};
    auto next = std::ranges::copy(kCommonMadHeaders, all.begin()).out;
    next = std::ranges::copy(kSubnetHeaders, next).out;
    next = std::ranges::copy(kAdministrationHeaders, next).out;
    next = std::ranges::copy(kPerformanceHeaders, next).out;
    next = std::ranges::copy(kCmHeaders, next).out;
    next = std::ranges::copy(kNoticeHeaders, next).out;
    next = std::ranges::copy(kForwardingHeaders, next).out;
    std::ranges::copy(kRecordHeaders, next);
    return all;
}();

}  // namespace qps::dissect
