/// The header of a chunk of data (RFC 9260 §3.3.1).
struct SCTPData {
  /// The length of a chunk without its data, in bytes.
  static let headerLength = 16
  /// The payload protocol of a binary message (RFC 8831 §8).
  static let binary: UInt32 = 53
  /// The flags of a chunk of ours: a whole message, out of order.
  static let wholeUnordered: UInt8 = 7

  struct Kind: Hashable, Sendable {
    var stream: UInt16
    var payloadProtocol: UInt32
  }

  var tsn: TSN
  var kind: Kind
  /// Whether the chunk begins a message.
  var isFirst: Bool
  /// Whether the chunk ends a message.
  var isLast: Bool
  /// Whether the sender wants an acknowledgement at once (RFC 7053).
  var isUrgent: Bool

  /// Reads the header of a chunk of at least `headerLength` bytes.
  init(_ chunk: Span<UInt8>) {
    let flags = chunk[1]
    tsn = TSN(chunk.bigEndian32(at: 4))
    kind = Kind(
      stream: chunk.bigEndian16(at: 8), payloadProtocol: chunk.bigEndian32(at: 12))
    isFirst = flags & 2 != 0
    isLast = flags & 1 != 0
    isUrgent = flags & 8 != 0
  }
}
