import CaromCore

/// The header of a data packet: the role of its sender, the packet number and, often, a short
/// acknowledgement.
package struct DataHeader: Hashable, Sendable {
  /// A packet number may be sent in two bytes if it exceeds the largest acknowledged number by less
  /// than this.
  private static let shortWindow: UInt64 = 4096
  /// The rate, in packets per second, below which packet numbers may be sent in two bytes. The
  /// number of a packet that arrives two seconds late can then still be recovered.
  private static let shortRate = 16_384
  /// A packet number is sent in at most three bytes if it exceeds the largest acknowledged number
  /// by less than this, and otherwise in four.
  private static let mediumWindow: UInt64 = 1 << 20

  private static let acknowledgementBit: UInt8 = 0x08
  private static let reservedBits: UInt8 = 0x06
  private static let keyPhaseBit: UInt8 = 0x01

  /// The role of the sender.
  package var role: PathRole
  /// The low `numberLength` bytes of the packet's number.
  package var number: UInt32
  /// The number of bytes that `number` takes on the wire: 2, 3 or 4.
  package var numberLength: Int
  package var acknowledgement: ShortAcknowledgement?
  /// Whether the key phase of an encrypted packet is 1; always false in plaintext.
  package var keyPhase: Bool
  /// Whether the first byte says that an acknowledgement follows the number.
  private let hasAcknowledgement: Bool

  /// The length in bytes of the part that stays readable in an encrypted packet.
  var readableLength: Int { 1 + numberLength }

  /// Creates the header of the packet `number`. The header contains only the low `numberLength`
  /// bytes of the number.
  package init(
    role: PathRole, number: UInt64, numberLength: Int, acknowledgement: ShortAcknowledgement? = nil,
    keyPhase: Bool = false
  ) {
    precondition((2...4).contains(numberLength), "a packet number must take two to four bytes")
    self.role = role
    self.number = UInt32(truncatingIfNeeded: number & (1 << UInt64(8 * numberLength) - 1))
    self.numberLength = numberLength
    self.acknowledgement = acknowledgement
    self.keyPhase = keyPhase
    hasAcknowledgement = acknowledgement != nil
  }

  /// Returns how many bytes of the packet number `next` must be sent for the peer to distinguish it
  /// from the numbers of all packets that may still be in flight.
  package static func numberLength(
    next: UInt64, largestAcknowledged: UInt64?, packetsPerSecond: Int
  ) -> Int {
    let window = largestAcknowledged.map { next - $0 } ?? next + 1
    if window < shortWindow, packetsPerSecond < shortRate { return 2 }
    return window < mediumWindow ? 3 : 4
  }

  /// Recovers the full packet number from its low bytes and the largest number received so far.
  package func expanded(after largestReceived: UInt64?) -> UInt64 {
    UInt64(
      expanding: UInt64(number), bits: UInt64(8 * numberLength),
      near: largestReceived.map { $0 + 1 } ?? 0)
  }

  /// Returns whether a datagram whose first byte is `first` is a data packet.
  package static func begins(with first: UInt8) -> Bool { first & 0x80 == 0 }

  /// Returns the role of the sender of a data packet whose first byte is `first`.
  package static func role(of first: UInt8) -> PathRole {
    first & 0x40 == 0 ? .initiator : .responder
  }

  /// Creates a header from the start of a data packet. The frames remain in `reader`.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try Self.readNumber(from: &reader)
    try readAcknowledgement(from: &reader)
  }

  /// Reads the part of a header that stays readable in an encrypted packet: the first byte and the
  /// number. Call `readAcknowledgement` after this, once the rest of the packet is decrypted.
  @inline(__always)
  static func readNumber(from reader: inout PacketReader) throws(DecodeError) -> DataHeader {
    let first = try reader.read(UInt8.self)
    guard Self.begins(with: first), first & Self.reservedBits == 0 else {
      throw .invalid(what: "data packet: first byte")
    }
    let number: UInt32
    switch first >> 4 & 3 {
    case 1: number = UInt32(try reader.read(UInt16.self))
    case 2:
      let low = try reader.read(UInt16.self)
      number = UInt32(low) | UInt32(try reader.read(UInt8.self)) << 16
    case 3: number = try reader.read(UInt32.self)
    default: throw .invalid(what: "data packet: length of the number")
    }
    return DataHeader(
      role: Self.role(of: first), number: number, numberLength: Int(first >> 4 & 3) + 1,
      hasAcknowledgement: first & Self.acknowledgementBit != 0,
      keyPhase: first & Self.keyPhaseBit != 0)
  }

  private init(
    role: PathRole, number: UInt32, numberLength: Int, hasAcknowledgement: Bool, keyPhase: Bool
  ) {
    self.role = role
    self.number = number
    self.numberLength = numberLength
    self.hasAcknowledgement = hasAcknowledgement
    self.keyPhase = keyPhase
  }

  /// Reads the acknowledgement that follows the number, if there is one.
  @inline(__always)
  mutating func readAcknowledgement(from reader: inout PacketReader) throws(DecodeError) {
    guard hasAcknowledgement else { return }
    acknowledgement = ShortAcknowledgement(
      largest: try reader.read(), ackDelay: AckDelay(byte: try reader.read()))
  }

  /// Appends the header.
  @inline(__always) package func write(to writer: inout FrameWriter) {
    var head = ShortBytes()
    var first = role.rawValue << 6 | UInt8(numberLength - 1) << 4
    if acknowledgement != nil { first |= Self.acknowledgementBit }
    if keyPhase { first |= Self.keyPhaseBit }
    head.append(first)
    for index in 0..<numberLength {
      head.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * index)))
    }
    if let acknowledgement {
      head.append(acknowledgement.largest)
      head.append(acknowledgement.ackDelay.byte)
    }
    writer.append(head)
  }
}

/// The side of a path that sends a packet. Two hosts that connect to each other at the same time
/// have two paths between the same endpoints, and the role tells their packets apart.
package enum PathRole: UInt8, Hashable, Sendable, CaseIterable {
  /// The side that began the path with a hello.
  case initiator = 0
  /// The side that answered the hello.
  case responder = 1
}

extension UInt64 {
  /// Creates the number nearest to `expected` whose low `bits` bits (16, 24 or 32) are `truncated`.
  /// If two numbers are equally near, creates the larger (RFC 9000, appendix A.3).
  init(expanding truncated: UInt64, bits: UInt64, near expected: UInt64) {
    let window: UInt64 = 1 << bits
    let candidate = expected & ~(window - 1) | truncated
    if candidate < expected, expected - candidate >= window / 2, candidate <= UInt64.max - window {
      self = candidate + window
    } else if candidate > expected, candidate - expected > window / 2, candidate >= window {
      self = candidate - window
    } else {
      self = candidate
    }
  }
}
