// Journey: the fabric. What the map and its tables show is what `qpscope fabric` prints.
#include <gui/fabric/fabric_map_picture.hpp>
#include <tests/gui/journey.hpp>

#include <QJsonArray>
#include <set>

using namespace qps::gui;
using namespace qps::gui::tests;

TEST_CASE("journey: the fabric is drawn, and its ports are those of the command line", "[.journey]") {
    Journey window({"fabric_sweep"});
    const auto told = window.command({QStringLiteral("fabric")});
    const QJsonObject json = commandJson(QStringList{QStringLiteral("fabric")} + window.files);
    window.goTo("Fabric");
    REQUIRE(Journey::soon([&] { return window.table("Ports of the fabric").rows() != 0; }));
    HeardTable ports = window.table("Ports of the fabric");
    REQUIRE(ports.rows() == static_cast<int>(told.size()));
    bool errors = false;
    for (int row = 0; row < ports.rows(); ++row) {
        const CommandRow& printed = told[static_cast<std::size_t>(row)];
        for (const auto& [heading, name] :
             {std::pair("Node", "node"), std::pair("Port", "port"), std::pair("State", "state"),
              std::pair("Rate", "rate"), std::pair("Linked to", "peer"), std::pair("Errors", "errors")})
            CHECK(ports.cell(row, words(heading)) == printed[words(name)]);
        errors = errors || !ports.cell(row, QStringLiteral("Errors")).isEmpty();
    }
    CHECK(window.named<QLabel>("The selected node")
              .text()
              .contains(QStringLiteral("%1 nodes, %2 links")
                            .arg(json[QStringLiteral("nodes")].toArray().size())
                            .arg(json[QStringLiteral("links")].toArray().size())));
    for (const bool dark : {false, true}) {
        useDarkPalette(dark);
        grab(window.window, dark ? QStringLiteral("journey_fabric_dark") : QStringLiteral("journey_fabric"));
    }
    useDarkPalette(false);

    // By keys to a node: its ports alone, and it is told to who cannot see.
    auto& map = window.named<FabricMapPicture>("Map of the fabric");
    map.setFocus();
    window.key(Qt::Key_Right);
    REQUIRE(map.current());
    const QString node = ports.cell(0, QStringLiteral("Node"));
    CHECK(map.accessibleDescription().startsWith(node));
    std::size_t own = 0;
    for (const CommandRow& row : told) own += row[QStringLiteral("node")] == node ? 1U : 0U;
    CHECK(window.table("Ports of the fabric").rows() == static_cast<int>(own));
    // Every node can be reached by the arrows.
    std::set<std::size_t> reached;
    for (const Qt::Key way :
         {Qt::Key_Up, Qt::Key_Left, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Left, Qt::Key_Right})
        for (std::size_t i = 0; i < told.size(); ++i) {
            window.key(way);
            reached.insert(*map.current());
        }
    CHECK(reached.size() == static_cast<std::size_t>(json[QStringLiteral("nodes")].toArray().size()));

    // Enter: to the ports, and from a port to the packet that told of its node.
    window.key(Qt::Key_Return);
    CHECK(window.window.focusWidget() == &window.named<QTableView>("Ports of the fabric"));
    window.table("Ports of the fabric").click(0);
    window.key(Qt::Key_Return);
    CHECK(window.window.shownView() == QStringLiteral("packets"));
    CHECK(window.packet() != 0);
}

TEST_CASE("journey: a capture without management datagrams has no fabric, and says so", "[.journey]") {
    Journey window({"loss_write"});
    window.goTo("Fabric");
    REQUIRE(Journey::soon(
        [&] { return window.named<QLabel>("The selected node").text().startsWith(QStringLiteral("No management")); }));
    CHECK(window.table("Ports of the fabric").rows() == 0);
}
