// From a wire into the session, through the program that captures. Only where somebody made a network for it:
// recorder/window.sh.
#include <gui/live/recorder.hpp>
#include <gui/session/session.hpp>
#include <tests/gui/application.hpp>
#include <tests/support/catch.hpp>

#include <QHostAddress>
#include <QSignalSpy>
#include <QTest>
#include <QUdpSocket>

using namespace qps::gui;
using namespace qps::gui::tests;

TEST_CASE("Packets of an interface arrive while it captures, and all are there at the end", "[.wire]") {
    needApplication();
    constexpr quint16 kPort = 4791;
    Session session;
    Recorder recorder(qEnvironmentVariable("RECORDER"));
    QObject::connect(&recorder, &Recorder::recording, &session, &Session::capture);
    const QSignalSpy failed(&recorder, &Recorder::failed);
    const QSignalSpy finished(&recorder, &Recorder::finished);
    recorder.start({QStringLiteral("lo"), QStringLiteral("udp port 4791")});
    REQUIRE(QTest::qWaitFor([&] { return session.state() == Session::State::Capturing; }, kPatience));
    CHECK(session.title() == QStringLiteral("lo (udp port 4791)"));

    QUdpSocket socket;
    for (std::uint64_t sent = 1; sent <= 20; ++sent) {
        socket.writeDatagram(QByteArray(24, 'x'), QHostAddress::LocalHost, kPort);
        socket.writeDatagram(QByteArray(24, 'x'), QHostAddress::LocalHost, 9);  // not asked for
        if (sent % 10 == 0) REQUIRE(QTest::qWaitFor([&] { return session.packets() == sent; }, kPatience));
    }
    recorder.stop();
    REQUIRE(QTest::qWaitFor([&] { return session.state() == Session::State::Done && !finished.isEmpty(); }, kPatience));
    CHECK(session.packets() == 20);
    CHECK(session.problems().isEmpty());
    CHECK(failed.isEmpty());
}

TEST_CASE("An interface that is not there leaves the open capture alone", "[.wire]") {
    needApplication();
    Session session;
    Recorder recorder(qEnvironmentVariable("RECORDER"));
    QObject::connect(&recorder, &Recorder::recording, &session, &Session::capture);
    QSignalSpy failed(&recorder, &Recorder::failed);
    recorder.start({QStringLiteral("no-such-interface"), {}});
    REQUIRE(failed.wait(10'000));
    CHECK(failed[0][0].toString().startsWith(QStringLiteral("no-such-interface: ")));
    CHECK(session.state() == Session::State::Empty);
}
