import CaromCore

/// Packs small packets together into datagrams, and splits large packets into fragments.
///
/// A datagram is a sequence of entries. Each entry begins with a `VarInt`, whose low bit is 1 for a
/// fragment and 0 for a whole packet; its other bits are the length of the data at the entry's end.
/// The data of a whole packet is its body (type, action, payload). In a fragment, three more
/// `VarInt`s precede the data: the packet's number, the fragment's index and the number of
/// fragments. Lost datagrams are not retransmitted.
public struct DatagramEncoder: Sendable {
  /// The default value of `maximumLength`, in bytes. Nearly all internet paths carry datagrams of
  /// this size without IP fragmentation (RFC 9000 §14.1).
  public static let defaultMaximumLength = 1200
  /// The smallest permitted `maximumLength`, in bytes.
  public static let leastMaximumLength = 64
  /// The maximum number of fragments of one packet.
  public static let maximumFragments = 1024

  /// The maximum length of a datagram, in bytes. It must not exceed the path MTU minus the IP and
  /// UDP headers.
  public let maximumLength: Int
  /// The maximum length of a body, in bytes. Set it to the receiver's limit, so that a packet that
  /// is too large fails at the sender.
  public let limit: Int

  private var datagrams: [[UInt8]] = []
  private var current = PacketWriter()
  private var nextNumber: UInt64 = 0

  /// Creates an empty encoder. `append` throws for a body that needs more than `maximumFragments`
  /// fragments, even if the body is within `limit`.
  public init(
    maximumLength: Int = defaultMaximumLength, limit: Int = FrameDecoder.defaultLimit
  ) {
    precondition(
      maximumLength >= Self.leastMaximumLength, "maximumLength must be at least 64 bytes")
    precondition(limit >= 0, "limit is a number of bytes and must not be negative")
    self.maximumLength = maximumLength
    self.limit = limit
  }

  /// Adds a packet to the current datagram, or to one or more new datagrams if it does not fit.
  public mutating func append(_ packet: Packet) throws(FrameError) {
    let length = Packet.headerLength + packet.payload.count
    guard length <= limit, length <= Self.maximumFragments * fragmentLength else {
      throw .frameTooLarge(
        length: UInt64(length), limit: min(limit, Self.maximumFragments * fragmentLength))
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

  /// Returns the datagrams with all packets appended since the last flush. Send each datagram
  /// unchanged.
  public mutating func flush() -> [[UInt8]] {
    finishDatagram()
    defer { datagrams = [] }
    return datagrams
  }

  /// The length of a fragment's data, in bytes. Only a packet's last fragment may be shorter.
  private var fragmentLength: Int { maximumLength - Self.fragmentOverhead }

  /// The maximum length of a fragment's header, in bytes: the VarInts for the length, number, index
  /// and count.
  private static let fragmentOverhead = 4 + VarInt.maximumLength + 2 + 2

  /// Splits a body into fragments of `fragmentLength` bytes. Each fragment begins a new datagram,
  /// except that the first may be appended to the current one.
  private mutating func appendFragments(of body: [UInt8]) {
    let number = nextNumber
    nextNumber += 1
    let count = (body.count + fragmentLength - 1) / fragmentLength
    for index in 0..<count {
      let start = index * fragmentLength
      let part = body[start..<min(body.count, start + fragmentLength)]
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
