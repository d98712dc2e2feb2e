// A planned dialogue (talk_plan.hpp) carried out between two endpoints: connected through the connection manager, every
// completion and every byte compared with the plan, ended, and everything given back.
//
// What does not agree is said in words: problem().
#pragma once

#include <tests/support/exchange_plan.hpp>
#include <transport-replay/live/endpoint.hpp>

#include <array>
#include <memory>
#include <string>

namespace qps::tests {

// Memory that receives are posted from, of a queue pair's own or shared; it is full of kFill but for what came.
class ReceivePool {
public:
    ReceivePool(transport::verbs::Adapter& adapter, transport::verbs::Pd pd, std::uint32_t count, std::uint32_t length,
                std::uint64_t seed);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(buffers_.size()); }
    [[nodiscard]] transport::verbs::RecvWr wr(std::uint32_t index) const;
    // Whether receive `index` holds the content behind `skipped` bytes, and nothing else was touched (where it is to be
    // clean, not even in the rest of it); it is made fresh again.
    [[nodiscard]] bool take(std::uint32_t index, std::span<const std::byte> content, std::uint32_t skipped, bool clean);
    // What came is of no interest.
    void freshen(std::uint32_t index);
    [[nodiscard]] bool untouched() const;
    [[nodiscard]] bool close();

private:
    transport::verbs::Adapter* adapter_;
    std::vector<std::byte> memory_;
    transport::verbs::Mr mr_{};
    std::vector<std::vector<transport::verbs::Sge>> buffers_;
};

// What the two ends of every dialogue share, of one endpoint.
struct ExchangeHost {
    transport::live::Endpoint* endpoint = nullptr;
    transport::verbs::Pd pd{};
    std::optional<transport::verbs::Srq> srq{};
    std::unique_ptr<ReceivePool> shared{};
    transport::Address address{};
};

struct ExchangeFaults {
    bool loses = false;  // what is unreliable may be missing
    bool doubles =
        false;  // it may come twice: datagrams, and what is one packet of UC, which knows of no duplicates (9.8.2)
    bool overtakes = false;
};

class Dialogue {
public:
    // Both hosts stay where they are.
    Dialogue(ExchangePlan plan, std::array<ExchangeHost*, 2> hosts, transport::live::IpPort port,
             const ExchangeFaults& faults);

    void begin(dissect::Instant now);
    // What the event means for this dialogue; false where it is another's.
    bool take(std::size_t side, const transport::live::ConnectionEvent& event, dissect::Instant now);
    void step(dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const { return quiet_until_; }
    [[nodiscard]] bool over() const { return over_; }
    // Once over: everything is given back, and memory is as it must be.
    void close();
    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] std::string progress() const;
    [[nodiscard]] const ExchangePlan& plan() const { return plan_; }
    [[nodiscard]] dissect::Qpn queue_pair(std::size_t side) const { return sides_[side].qp; }

private:
    struct ShownWindow {
        transport::verbs::Window made{};
        dissect::Rkey key{};
    };
    struct Side {
        std::vector<std::byte> memory{};
        transport::verbs::Cq send_cq{};
        transport::verbs::Cq recv_cq{};
        dissect::Qpn qp{};
        transport::verbs::Mr pattern{};
        transport::verbs::Mr open{};
        transport::verbs::Mr own{};
        std::vector<ShownWindow> windows{};
        ShownWindow spare{};
        std::unique_ptr<ReceivePool> receives{};
        std::optional<transport::live::CmId> id{};
        bool established = false;
        bool may_bind = false;  // its queue pair sends
        bool released = false;
        std::size_t bound = 0;  // windows whose bind is posted
        std::size_t binds_done = 0;
        std::size_t posted = 0;
        std::size_t completed = 0;  // of `visible`
        std::vector<std::size_t> visible{};
        std::size_t received = 0;
        std::vector<bool> arrived{};  // of unreliable messages, by the peer's step
        std::uint32_t receives_posted = 0;
        std::uint32_t receives_done = 0;
    };
    [[nodiscard]] transport::verbs::Adapter& adapter(std::size_t side) const {
        return hosts_[side]->endpoint->adapter();
    }
    [[nodiscard]] transport::live::Connections& connections(std::size_t side) const {
        return hosts_[side]->endpoint->connections();
    }
    [[nodiscard]] ReceivePool& pool(std::size_t side);
    void fail(std::string what);
    void expect(bool holds, const char* what);
    void open_side(std::size_t side);
    void post_receive(std::size_t side, std::uint32_t index);
    void bind_windows(std::size_t side);
    void post_steps(std::size_t side);
    [[nodiscard]] transport::verbs::Result<void> post(std::size_t side, const Step& step, std::size_t index);
    [[nodiscard]] std::optional<transport::verbs::Remote> remote_of(std::size_t side, const Step& step) const;
    void take_sends(std::size_t side);
    void take_receives(std::size_t side);
    void take_send(std::size_t side, const transport::verbs::Wc& wc);
    void take_receive(std::size_t side, const transport::verbs::Wc& wc);
    [[nodiscard]] std::optional<std::size_t> message_of(Side& mine, const SidePlan& plan,
                                                        const transport::verbs::Wc& wc) const;
    [[nodiscard]] bool reliable() const { return plan_.type == transport::verbs::QpType::rc; }
    [[nodiscard]] bool done(std::size_t side) const;
    void end(dissect::Instant now);
    void close_side(std::size_t side);
    void compare(std::size_t side);

    ExchangePlan plan_;
    std::array<ExchangeHost*, 2> hosts_;
    transport::live::IpPort port_;
    ExchangeFaults faults_;
    std::array<Side, 2> sides_{};
    std::optional<dissect::Instant> quiet_until_{};
    bool ending_ = false;
    bool over_ = false;
    std::string problem_;
};

}  // namespace qps::tests
