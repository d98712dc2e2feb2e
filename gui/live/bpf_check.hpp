// BpfCheck: whether a text is a capture filter, asked of libpcap while somebody types.
//
// In a thread of its own: an expression may name a host, and libpcap then asks the resolver, which can take seconds.
// Only the answer to the newest question is told.
#pragma once

#include <dissect/base/frame.hpp>

#include <QObject>
#include <QString>
#include <QTimer>

namespace qps::gui {

class BpfCheck : public QObject {
    Q_OBJECT

public:
    enum class Verdict { Pending, Right, Wrong };

    explicit BpfCheck(QObject* parent = nullptr);
    void ask(const QString& expression, dissect::LinkType link);
    [[nodiscard]] Verdict verdict() const { return m_verdict; }
    // libpcap's sentence where it is wrong.
    [[nodiscard]] QString sentence() const { return m_sentence; }

Q_SIGNALS:
    void verdictChanged();

private:
    void compile();
    void conclude(Verdict verdict, const QString& sentence);

    QString m_expression;
    dissect::LinkType m_link = dissect::LinkType::ethernet;
    QTimer m_pause;  // since the last key
    quint64 m_question = 0;
    Verdict m_verdict = Verdict::Right;
    QString m_sentence;
};

}  // namespace qps::gui
