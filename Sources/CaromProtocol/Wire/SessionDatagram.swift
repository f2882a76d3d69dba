import CaromCore

/// The decoded beginning of a received datagram. The rest remains in the reader. The first byte
/// tells the kinds of datagrams apart (WireFormat, "Datagrams").
package enum SessionDatagram: Hashable, Sendable {
  static let helloByte: UInt8 = 0x80
  static let retryByte: UInt8 = 0x81
  static let refusalByte: UInt8 = 0x82
  static let handshakeByte: UInt8 = 0x83

  /// A data packet (0x00 to 0x7F). Its frames remain in the reader.
  case data(DataHeader)
  /// A hello. If the hello has a cookie or a token, the reader may still hold a data packet and, on
  /// an encrypted path, a `HandshakePart` before it.
  case hello(Hello)
  case retry(Retry)
  case refusal(Refusal)
  /// The responder's message of a handshake. If the handshake has no further message, the reader
  /// may still hold a data packet of the responder.
  case handshake(HandshakePart)

  /// Creates a datagram by decoding its beginning. The documentation of each case says which bytes
  /// remain in `reader`.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let first = reader.peek() else { throw .truncated(wanted: 1, remaining: 0) }
    if DataHeader.begins(with: first) {
      self = .data(try DataHeader(decoding: &reader))
      return
    }
    _ = try reader.read(UInt8.self)
    switch first {
    case Self.helloByte:
      let hello = try Hello(decoding: &reader)
      self = .hello(hello)
      guard let next = reader.peek() else { return }
      if hello.isSealed, next == Self.handshakeByte { return }
      guard DataHeader.begins(with: next), DataHeader.role(of: next) == .initiator else {
        throw .invalid(what: "hello: the bytes after it are no data packet of the initiator")
      }
    case Self.retryByte: self = .retry(try Retry(decoding: &reader))
    case Self.refusalByte: self = .refusal(try Refusal(decoding: &reader))
    case Self.handshakeByte:
      let part = try HandshakePart(decoding: &reader)
      guard part.sender == .responder else { throw .invalid(what: "handshake without a hello") }
      self = .handshake(part)
      guard let next = reader.peek() else { return }
      guard DataHeader.begins(with: next), DataHeader.role(of: next) == .responder else {
        throw .invalid(what: "handshake: the bytes after it are no data packet of the responder")
      }
    default: throw .invalid(what: "datagram")
    }
  }
}
