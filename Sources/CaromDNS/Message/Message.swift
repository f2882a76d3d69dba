/// A DNS message (RFC 1035 §4) as multicast DNS uses it (RFC 6762 §18).
package struct Message: Hashable, Sendable {
  /// The four sections of a message, in wire order.
  package enum Section: Int, Sendable { case question, answer, authority, additional }

  /// The maximum length of a datagram that is decoded, in bytes (RFC 6762 §17).
  package static let maximumLength = 9000
  /// The maximum length of a message that is decoded from a TCP connection, in bytes (RFC 1035
  /// §4.2.2).
  package static let maximumStreamLength = 65_535
  /// The maximum length of a sent message, in bytes. Only a message with a single large record may
  /// be this long: with IPv6 and UDP headers it makes a packet of 9,000 bytes (RFC 6762 §17).
  package static let maximumPayload = 8952
  /// The maximum length of a message that is normally sent, in bytes: an Ethernet MTU of 1,500 less
  /// the IPv6 and UDP headers of 40 and 8.
  package static let maximumSentLength = 1452

  /// The message ID: zero, except in legacy queries and the responses to them.
  package var id: UInt16
  /// The header's 16 flag bits, including the opcode and the response code.
  package var flags: UInt16
  /// The question section.
  package var questions: [Question] = []
  /// The answer section. In a query it holds the known answers (RFC 6762 §7.1).
  package var answers: [Record] = []
  /// The authority section. In a probe it holds the proposed records (RFC 6762 §8.2).
  package var authorities: [Record] = []
  /// The additional section: records that save the querier another query.
  package var additionals: [Record] = []

  /// Creates an empty query or, if `isResponse`, an empty authoritative response.
  package init(id: UInt16 = 0, isResponse: Bool = false) {
    self.id = id
    flags = isResponse ? 0x8400 : 0
  }

  init(id: UInt16, flags: UInt16) {
    self.id = id
    self.flags = flags
  }

  /// Whether the message is a response (the QR bit).
  package var isResponse: Bool { flags & 0x8000 != 0 }
  /// Whether more known answers follow in further packets (the TC bit, RFC 6762 §7.2).
  package var isTruncated: Bool {
    get { flags & 0x0200 != 0 }
    set { flags = newValue ? flags | 0x0200 : flags & ~0x0200 }
  }
  /// Whether the opcode and the response code are both zero. Any other message is ignored (RFC 6762
  /// §18.3, §18.11).
  package var isStandard: Bool { flags & 0x780F == 0 }
}
