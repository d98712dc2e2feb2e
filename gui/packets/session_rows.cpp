#include <gui/packets/session_rows.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>

#include <optional>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;
using transport::CaptureIndex;
using transport::RowSet;

namespace {

// What was shown at one time, of a capture that may grow meanwhile.
class PastRows : public PacketRows {
public:
    PastRows(std::shared_ptr<const CaptureIndex> index, std::uint64_t total, std::optional<RowSet> hits,
             SessionRows::Order order)
        : m_index(std::move(index)),
          m_total(total),
          m_hits(std::move(hits)),
          m_order(std::move(order)),
          m_reader(m_index) {}

    [[nodiscard]] std::uint64_t total() const override { return m_total; }
    [[nodiscard]] transport::PacketRow row(FrameIndex frame) const override { return m_index->row(frame); }
    [[nodiscard]] std::uint64_t count() const override { return m_hits ? m_hits->size() : m_total; }
    [[nodiscard]] FrameIndex frameAt(std::uint64_t position) const override {
        const std::uint64_t place = m_order != nullptr ? m_order->place(position) : position;
        return m_hits ? m_hits->at(place) : FrameIndex{place + 1};
    }
    [[nodiscard]] std::uint64_t positionOf(FrameIndex frame) const override {
        const std::uint64_t place = m_hits ? m_hits->rank(frame) : std::to_underlying(frame) - 1;
        return m_order != nullptr && place < m_order->size() ? m_order->position(place) : place;
    }
    [[nodiscard]] bool isSorted() const override { return m_order != nullptr; }
    [[nodiscard]] bool isShown(FrameIndex frame) const override { return !m_hits || m_hits->contains(frame); }
    [[nodiscard]] const transport::GrowingStore<transport::MessageRow>* messages() const override {
        return &m_index->messages;
    }
    [[nodiscard]] const dissect::Packet* read(FrameIndex frame) override { return m_reader.read(frame); }
    [[nodiscard]] std::unique_ptr<PacketRows> snapshot() const override {
        return std::make_unique<PastRows>(m_index, m_total, m_hits, m_order);
    }

private:
    std::shared_ptr<const CaptureIndex> m_index;
    std::uint64_t m_total;
    std::optional<RowSet> m_hits;
    SessionRows::Order m_order;
    transport::PacketReader m_reader;
};

}  // namespace

SessionRows::SessionRows(const Session& session, const Selection& selection)
    : m_session(session), m_selection(selection), m_index(session.index()), m_reader(m_index) {}

void SessionRows::renew() {
    m_order.reset();
    m_index = m_session.index();
    m_reader = transport::PacketReader(m_index);
}

std::uint64_t SessionRows::total() const { return m_session.packets(); }
transport::PacketRow SessionRows::row(FrameIndex frame) const {
    return m_index->has(frame) ? m_index->row(frame) : transport::PacketRow{};
}
std::uint64_t SessionRows::count() const { return m_selection.shown(); }

const transport::series::PacketOrder* SessionRows::order() const {
    return m_order != nullptr && m_order->size() == m_selection.shown() ? m_order.get() : nullptr;
}

FrameIndex SessionRows::frameAt(std::uint64_t position) const {
    const auto* sorted = order();
    return m_selection.frameAt(sorted != nullptr ? sorted->place(position) : position);
}

std::uint64_t SessionRows::positionOf(FrameIndex frame) const {
    const std::uint64_t place = m_selection.positionOf(frame);
    const auto* sorted = order();
    return sorted != nullptr && place < sorted->size() ? sorted->position(place) : place;
}

std::optional<FrameIndex> SessionRows::firstShown() const {
    return count() == 0 ? std::nullopt : std::optional(m_selection.frameAt(0));
}

std::optional<FrameIndex> SessionRows::shownBefore(FrameIndex frame) const {
    const std::uint64_t place = m_selection.positionOf(frame);
    return place == 0 ? std::nullopt : std::optional(m_selection.frameAt(place - 1));
}

bool SessionRows::isShown(FrameIndex frame) const { return m_selection.isShown(frame); }
const transport::GrowingStore<transport::MessageRow>* SessionRows::messages() const { return &m_index->messages; }
const dissect::Packet* SessionRows::read(FrameIndex frame) {
    return m_index->has(frame) ? m_reader.read(frame) : nullptr;
}

std::unique_ptr<PacketRows> SessionRows::snapshot() const {
    const RowSet* hits = m_selection.hits();
    return std::make_unique<PastRows>(m_index, total(), hits == nullptr ? std::nullopt : std::optional(*hits),
                                      isSorted() ? m_order : nullptr);
}

}  // namespace qps::gui
