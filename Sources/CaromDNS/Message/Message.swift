/// A DNS message (RFC 1035 §4) as multicast DNS uses it (RFC 6762 §18).
package struct Message: Hashable, Sendable {
  /// The four sections, in their order on the wire.
  package enum Section: Int, Sendable { case question, answer, authority, additional }

  /// The largest message that is read, bytes (RFC 6762 §17).
  package static let maximumLength = 9000
  /// The largest message that is read from a connection to a name server, bytes (RFC 1035 §4.2.2).
  package static let maximumStreamLength = 65_535
  /// The largest message that is sent where a record needs so much, bytes: with the headers of
  /// IPv6 and UDP no packet is over 9,000 (RFC 6762 §17).
  package static let maximumPayload = 8952
  /// The largest message that is sent otherwise, bytes: it fits an Ethernet frame over IPv6
  /// (1,500 less 40 and 8).
  package static let maximumSentLength = 1452

  /// 0 but in legacy questions and their answers.
  package var id: UInt16
  /// The sixteen bits beside it, as they came.
  package var flags: UInt16
  /// What is asked.
  package var questions: [Question] = []
  /// Answers, or in a query the answers that the asker knows.
  package var answers: [Record] = []
  /// In a probe: the records that the prober wants (RFC 6762 §8.2).
  package var authorities: [Record] = []
  /// Records that save the asker a further question.
  package var additionals: [Record] = []

  /// An empty query, or with `isResponse` an empty authoritative response.
  package init(id: UInt16 = 0, isResponse: Bool = false) {
    self.id = id
    flags = isResponse ? 0x8400 : 0
  }

  init(id: UInt16, flags: UInt16) {
    self.id = id
    self.flags = flags
  }

  /// Whether it answers (QR).
  package var isResponse: Bool { flags & 0x8000 != 0 }
  /// Whether more known answers follow in further packets (TC, RFC 6762 §7.2).
  package var isTruncated: Bool {
    get { flags & 0x0200 != 0 }
    set { flags = newValue ? flags | 0x0200 : flags & ~0x0200 }
  }
  /// Opcode and response code both 0: any other message is ignored (RFC 6762 §18.3, §18.11).
  package var isStandard: Bool { flags & 0x780F == 0 }
}
