// BPF filters in libpcap's language (pcap-filter(7)), on frames of captures.
//
// An expression compiles to another program for every link type, so programs are made as link types turn up and kept.
// The programs come from libpcap and are run by it, within the bytes of the frame.
#pragma once

#include <dissect/base/frame.hpp>

#include <expected>
#include <memory>
#include <string>

namespace qps::dissect {

// Longest expression given to libpcap, in bytes. Lists of thousands of hosts fit; its parser recurses, so there is an
// end.
inline constexpr std::size_t kMaxBpfExpression = 65'536;
// Most link types a filter keeps programs for; a capture has one or two.
inline constexpr std::size_t kMaxBpfLinks = 64;

// Not for several threads at once: give each worker its own.
class BpfFilter {
public:
    // Compiles for `link`. The error is libpcap's sentence.
    [[nodiscard]] static std::expected<BpfFilter, std::string> compile(std::string expression,
                                                                       LinkType link = LinkType::ethernet);

    // Compiles for every link type that is decoded, and for no other later: names of hosts, networks and ports are
    // looked up now, and never again. That the expression has no meaning for a link type is known when accepts() is
    // asked.
    [[nodiscard]] static std::expected<BpfFilter, std::string> compile_for_all(std::string expression);
    // Whether the expression has a meaning for `link`; else libpcap's sentence.
    [[nodiscard]] std::expected<void, std::string> accepts(LinkType link);

    BpfFilter(BpfFilter&&) noexcept;
    BpfFilter& operator=(BpfFilter&&) noexcept;
    ~BpfFilter();

    // Whether the frame is one the expression asks for. Fails where the expression has no meaning for the frame's link
    // type, the same way for each of its frames.
    [[nodiscard]] std::expected<bool, std::string> matches(const Frame& frame);
    [[nodiscard]] const std::string& expression() const;

private:
    struct State;
    explicit BpfFilter(std::unique_ptr<State> state);
    [[nodiscard]] static std::expected<std::unique_ptr<State>, std::string> begin(std::string expression);
    std::unique_ptr<State> state_;
};

}  // namespace qps::dissect
