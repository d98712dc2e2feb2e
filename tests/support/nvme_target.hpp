// A small NVMe over RDMA target over an endpoint of ours: the discovery subsystem, admin queues, Connect, properties,
// Identify. It keeps the rules, or neglects the one of a check, in one of several ways.
//
// Its host is a tester who sends whatever a script has: every capsule is looked at before it is used.
#pragma once

#include <transport-replay/live/peers/link.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string_view>

namespace qps::tests {

enum class NvmeLapse : std::uint8_t {
    none,
    goes_on,  // as if nothing were wrong
    hangs,    // says nothing
    lies,     // says something else
    twice,    // says it twice, or to another
    half,     // does half of it
};
struct NvmeNeglect {
    std::string_view check{};  // its id; empty: none
    NvmeLapse lapse = NvmeLapse::none;
    std::uint32_t piece = 1024;  // no neglect: the most of a READ
};

class NvmeTarget {
public:
    explicit NvmeTarget(NvmeNeglect neglect = {});
    ~NvmeTarget();
    NvmeTarget(const NvmeTarget&) = delete;
    NvmeTarget& operator=(const NvmeTarget&) = delete;

    void begin(transport::live::Endpoint& endpoint);
    void poll(transport::live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    // Everything is given back.
    void close(transport::live::Endpoint& endpoint, dissect::Instant now);

private:
    struct Queue;
    struct Answer {
        std::uint16_t cid = 0;
        std::uint32_t status = 0;
        std::uint64_t result = 0;
        std::optional<std::uint32_t> invalidate{};
    };
    using Context = transport::live::peers::PeerContext;

    [[nodiscard]] Context at(transport::live::Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] NvmeLapse lapse(std::string_view check) const {
        return check == neglect_.check ? neglect_.lapse : NvmeLapse::none;
    }
    void request(const Context& context, const transport::live::ConnectionEvent& event);
    void accept(const Context& context, const transport::live::ConnectionEvent& event, std::uint16_t queue,
                bool served);
    void complete(const Context& context, const transport::verbs::Wc& wc);
    void fail_queue(const Context& context, Queue& queue, bool read);
    void take(const Context& context, Queue& queue, dissect::Bytes capsule);
    void take_connect(const Context& context, Queue& queue, dissect::Bytes entry);
    void finish_connect(const Context& context, Queue& queue);
    void take_property(const Context& context, Queue& queue, dissect::Bytes entry);
    void get_property(const Context& context, Queue& queue, Answer answer, std::uint32_t offset, bool wide);
    void set_property(const Context& context, Queue& queue, Answer answer, std::uint32_t offset, std::uint64_t value);
    void take_admin(const Context& context, Queue& queue, dissect::Bytes entry);
    // What breaks the rule of a check is answered with that failure; where the rule is neglected, as that says.
    // `right`: what comes of who goes on.
    template <class GoOn>
    void refuse(const Context& context, Queue& queue, std::string_view check, Answer failure, GoOn right);
    // The same of what is right.
    void answer_right(const Context& context, Queue& queue, std::string_view check, const Answer& right);
    void answer(const Context& context, Queue& queue, const Answer& answer);
    void leave(const Context& context, Queue& queue);

    NvmeNeglect neglect_;
    transport::verbs::Pd pd_{};
    transport::verbs::Cq cq_{};
    transport::live::ProgramCounts counts_{};
    std::vector<std::string> lines_;
    std::size_t held_ = 0;
    std::uint64_t version_ = 0x10400;
    std::map<std::uint32_t, std::unique_ptr<Queue>> queues_;  // by the number of the queue pair
};

}  // namespace qps::tests
