import CaromCore

/// What a datagram of the session begins with.
package enum SessionDatagram: Hashable, Sendable {
  static let helloByte: UInt8 = 0x80
  static let retryByte: UInt8 = 0x81
  static let refusalByte: UInt8 = 0x82

  /// A data packet; its frames are left.
  case data(DataHeader)
  /// A hello; with a cookie, a caller's data packet may be left.
  case hello(Hello)
  case retry(Retry)
  case refusal(Refusal)

  /// Reads the beginning of a datagram; what `reader` has left is said with each case.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let first = reader.peek() else { throw .truncated(wanted: 1, remaining: 0) }
    if DataHeader.begins(with: first) {
      self = .data(try DataHeader(decoding: &reader))
      return
    }
    _ = try reader.read(UInt8.self)
    switch first {
    case Self.helloByte:
      self = .hello(try Hello(decoding: &reader))
      guard let next = reader.peek() else { return }
      guard DataHeader.begins(with: next), DataHeader.role(of: next) == .initiator else {
        throw .invalid(what: "hello: what follows is no caller's data packet")
      }
    case Self.retryByte: self = .retry(try Retry(decoding: &reader))
    case Self.refusalByte: self = .refusal(try Refusal(decoding: &reader))
    default: throw .invalid(what: "datagram")
    }
  }
}
