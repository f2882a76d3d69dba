import CaromCore

/// Puts packets into datagrams: several small ones into one, a large one into several.
///
/// A datagram has its own bounds, so that no frame header is needed. It holds entries, one behind
/// the other; the first `VarInt` of each is twice the number of bytes that end it, plus one for a
/// fragment. An entry is the body of a packet (type, action, payload), or a fragment of a body:
/// `VarInt` number of the packet, `VarInt` index, `VarInt` count of its fragments, and the bytes.
/// Whether datagrams arrive, and in which order, is the transport's matter.
public struct DatagramEncoder: Sendable {
  /// The longest datagram unless told otherwise, bytes: it passes nearly every path whole,
  /// the internet's too (RFC 9000 §14.1).
  public static let defaultMaximumLength = 1200
  /// The shortest limit that can be set for datagrams, bytes.
  public static let leastMaximumLength = 64
  /// Into how many fragments a packet may fall.
  public static let maximumFragments = 1024

  /// The longest datagram, bytes: the path's MTU less the headers of IP and UDP.
  public let maximumLength: Int
  /// The largest body allowed, bytes: the receiver's limit, so that the mistake shows here.
  public let limit: Int

  private var datagrams: [[UInt8]] = []
  private var current = PacketWriter()
  private var nextNumber: UInt64 = 0

  /// An encoder without datagrams. A body over `maximumFragments` times what one datagram holds
  /// is too large as well.
  public init(
    maximumLength: Int = defaultMaximumLength, limit: Int = FrameDecoder.defaultLimit
  ) {
    precondition(
      maximumLength >= Self.leastMaximumLength, "a datagram has room for 64 bytes at least")
    precondition(limit >= 0, "a limit is a count of bytes, 0 or more")
    self.maximumLength = maximumLength
    self.limit = limit
  }

  /// Puts a packet into the datagram under way, or where it has no room into the next ones.
  public mutating func append(_ packet: Packet) throws(FrameError) {
    let length = Packet.headerLength + packet.payload.count
    guard length <= limit, length <= Self.maximumFragments * room else {
      throw .frameTooLarge(length: UInt64(length), limit: min(limit, Self.maximumFragments * room))
    }
    let head = UInt64(length) << 1
    let whole = VarInt.length(of: head) + length
    if whole > maximumLength - current.count { finishDatagram() }
    guard whole > maximumLength else {
      current.writeVarInt(head)
      packet.encode(into: &current)
      return
    }
    var writer = PacketWriter(capacity: length)
    packet.encode(into: &writer)
    appendFragments(of: writer.bytes)
  }

  /// The datagrams of all packets since the last time; send each as it is.
  public mutating func flush() -> [[UInt8]] {
    finishDatagram()
    defer { datagrams = [] }
    return datagrams
  }

  /// The bytes of a body that one fragment carries at least.
  private var room: Int { maximumLength - Self.fragmentOverhead }

  /// The longest head of a fragment: length, number, index and count.
  private static let fragmentOverhead = 4 + VarInt.maximumLength + 2 + 2

  /// Fragments are as long as they can be alike, but for the last.
  private mutating func appendFragments(of body: [UInt8]) {
    let number = nextNumber
    nextNumber += 1
    let count = (body.count + room - 1) / room
    for index in 0..<count {
      let part = body[index * room..<min(body.count, (index + 1) * room)]
      if index > 0 { finishDatagram() }
      current.writeVarInt(UInt64(part.count) << 1 | 1)
      current.writeVarInt(number)
      current.writeVarInt(UInt64(index))
      current.writeVarInt(UInt64(count))
      current.write(part)
    }
  }

  private mutating func finishDatagram() {
    guard current.count > 0 else { return }
    datagrams.append(current.bytes)
    current.removeAll()
  }
}
