/// One entry of a message's question section.
package struct Question: Hashable, Sendable {
  /// The class that matches every class.
  package static let anyClass: UInt16 = 255

  /// Which records are asked for.
  package var key: RecordKey
  /// Whether the asker would rather have a unicast answer: "QU" (RFC 6762 §5.4).
  package var wantsUnicast: Bool
  /// 1 for the internet, 255 for any.
  package var questionClass: UInt16

  /// Asks for the records of `type` under `name`.
  package init(
    _ name: Name, _ type: RecordType, wantsUnicast: Bool = false,
    questionClass: UInt16 = Record.internet
  ) {
    key = RecordKey(name, type)
    self.wantsUnicast = wantsUnicast
    self.questionClass = questionClass
  }

  /// Whether `record` answers it (RFC 6762 §6.5 for "any").
  package func isAnswered(by record: Record) -> Bool {
    (key.type == record.type || key.type == .any)
      && (questionClass == record.recordClass || questionClass == Self.anyClass)
      && key.name == record.name
  }
}
