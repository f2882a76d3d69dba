/// An entry in a message's question section.
package struct Question: Hashable, Sendable {
  /// The class "any", which matches records of every class.
  package static let anyClass: UInt16 = 255

  /// The name and the type of the requested records.
  package var key: RecordKey
  /// Whether the querier prefers a unicast response (the QU bit, RFC 6762 §5.4).
  package var wantsUnicast: Bool
  /// The class of the requested records: 1 for the internet, 255 for any.
  package var questionClass: UInt16

  /// Creates a question for the records of `type` under `name`.
  package init(
    _ name: Name, _ type: RecordType, wantsUnicast: Bool = false,
    questionClass: UInt16 = Record.internet
  ) {
    key = RecordKey(name, type)
    self.wantsUnicast = wantsUnicast
    self.questionClass = questionClass
  }

  /// Returns whether `record` answers the question, whose type and class may be "any" (RFC 6762
  /// §6.5).
  package func isAnswered(by record: Record) -> Bool {
    (key.type == record.type || key.type == .any)
      && (questionClass == record.recordClass || questionClass == Self.anyClass)
      && key.name == record.name
  }
}
