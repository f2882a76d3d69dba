import CaromCore

/// What a data packet begins with: who sends it, its number, and often a short acknowledgement.
package struct DataHeader: Hashable, Sendable {
  /// The most bytes that a header takes.
  package static let maximumLength = 8

  /// Up to this many numbers after the largest acknowledged one, two bytes are enough.
  private static let shortWindow: UInt64 = 4096
  /// Up to this many packets a second, two bytes are enough: a packet that is late by two seconds
  /// still gets its own number.
  private static let shortRate = 16_384
  private static let middleWindow: UInt64 = 1 << 20

  private static let acknowledgementBit: UInt8 = 0x08
  private static let reservedBits: UInt8 = 0x07

  package var role: PathRole
  /// The lowest bits of the packet's number, `numberLength` bytes of it.
  package var number: UInt32
  /// 2, 3 or 4.
  package var numberLength: Int
  package var acknowledgement: ShortAcknowledgement?

  /// The header of packet `number`, truncated to `numberLength` bytes.
  package init(
    role: PathRole, number: UInt64, numberLength: Int, acknowledgement: ShortAcknowledgement? = nil
  ) {
    precondition((2...4).contains(numberLength), "a number has two to four bytes")
    self.role = role
    self.number = UInt32(truncatingIfNeeded: number & (1 << UInt64(8 * numberLength) - 1))
    self.numberLength = numberLength
    self.acknowledgement = acknowledgement
  }

  /// How many bytes of packet `next` have to be sent, so that the other side can tell it from all
  /// that may still be on the way.
  package static func numberLength(
    next: UInt64, largestAcknowledged: UInt64?, packetsPerSecond: Int
  ) -> Int {
    let window = largestAcknowledged.map { next - $0 } ?? next + 1
    if window < shortWindow, packetsPerSecond < shortRate { return 2 }
    return window < middleWindow ? 3 : 4
  }

  /// The number, whole; `largestReceived` is the largest that came before.
  package func expanded(after largestReceived: UInt64?) -> UInt64 {
    UInt64(
      expanding: UInt64(number), bits: UInt64(8 * numberLength),
      near: largestReceived.map { $0 + 1 } ?? 0)
  }

  /// Whether a datagram that begins with `first` is a data packet.
  package static func begins(with first: UInt8) -> Bool { first & 0x80 == 0 }

  /// The role of the sender of a data packet that begins with `first`.
  package static func role(of first: UInt8) -> PathRole {
    first & 0x40 == 0 ? .initiator : .responder
  }

  /// Reads a header; its frames are what is left.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    let first = try reader.read(UInt8.self)
    guard Self.begins(with: first), first & Self.reservedBits == 0 else {
      throw .invalid(what: "data packet: first byte")
    }
    role = Self.role(of: first)
    switch first >> 4 & 3 {
    case 1:
      number = UInt32(try reader.read(UInt16.self))
      numberLength = 2
    case 2:
      let low = try reader.read(UInt16.self)
      number = UInt32(low) | UInt32(try reader.read(UInt8.self)) << 16
      numberLength = 3
    case 3:
      number = try reader.read(UInt32.self)
      numberLength = 4
    default: throw .invalid(what: "data packet: length of the number")
    }
    guard first & Self.acknowledgementBit != 0 else { return }
    acknowledgement = ShortAcknowledgement(
      largest: try reader.read(), ackDelay: AckDelay(byte: try reader.read()))
  }

  /// Appends the header.
  package func write(to writer: inout FrameWriter) {
    var head = ShortBytes()
    var first = role.rawValue << 6 | UInt8(numberLength - 1) << 4
    if acknowledgement != nil { first |= Self.acknowledgementBit }
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
