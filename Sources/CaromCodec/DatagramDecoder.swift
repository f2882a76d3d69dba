import CaromCore

/// Takes packets out of the datagrams of a `DatagramEncoder`, one decoder a sender.
///
/// Datagrams may be lost, doubled and reordered. A packet that came whole is given out as often as
/// it came; one in fragments when the last of them is here. Fragments wait in bounded room: what is
/// oldest gives way. A malformed datagram throws, and gives nothing.
public struct DatagramDecoder: Sendable {
  /// How many packets can wait for fragments at a time.
  public static let maximumIncomplete = 64

  private struct Fragment {
    var number: UInt64
    var index: Int
    var count: Int
    var bytes: [UInt8]
  }

  private struct Incomplete {
    var number: UInt64
    var count: Int
    var parts: [Int: [UInt8]]
    var length: Int { parts.values.reduce(0) { $0 + $1.count } }
  }

  /// The largest body accepted, bytes; all fragments that wait have no more together.
  public let limit: Int
  /// The oldest first.
  private var incomplete: [Incomplete] = []

  /// A decoder that has seen nothing.
  public init(limit: Int = FrameDecoder.defaultLimit) {
    precondition(limit >= 0, "a limit is a count of bytes, 0 or more")
    self.limit = limit
  }

  /// How many bytes wait for the rest of their packet.
  public var waiting: Int { incomplete.reduce(0) { $0 + $1.length } }

  /// The packets that a datagram brings or completes, in its order.
  public mutating func receive(_ datagram: Span<UInt8>) throws(DecodeError) -> [Packet] {
    var reader = PacketReader(datagram)
    var entries: [(packet: Packet?, fragment: Fragment?)] = []
    while reader.remaining > 0 {
      let head = try reader.readVarInt()
      if head & 1 == 0 {
        entries.append((try readPacket(head >> 1, from: &reader), nil))
      } else {
        entries.append((nil, try readFragment(head >> 1, from: &reader)))
      }
    }
    var packets: [Packet] = []
    for entry in entries {
      if let packet = entry.packet { packets.append(packet) }
      if let fragment = entry.fragment, let body = try add(fragment) {
        var reader = PacketReader(body.span)
        packets.append(try Packet(decoding: &reader))
      }
    }
    return packets
  }

  private func readPacket(
    _ length: UInt64, from reader: inout PacketReader
  ) throws(DecodeError) -> Packet {
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: UInt64(limit)) }
    var body = PacketReader(try reader.readSpan(Int(length)))
    return try Packet(decoding: &body)
  }

  private func readFragment(
    _ length: UInt64, from reader: inout PacketReader
  ) throws(DecodeError) -> Fragment {
    let number = try reader.readVarInt()
    let index = try reader.readVarInt()
    let count = try reader.readVarInt()
    guard count <= UInt64(DatagramEncoder.maximumFragments) else {
      throw .tooLarge(length: count, limit: UInt64(DatagramEncoder.maximumFragments))
    }
    guard index < count else { throw .invalid(what: "fragment index") }
    guard length > 0 else { throw .invalid(what: "empty fragment") }
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: UInt64(limit)) }
    return Fragment(
      number: number, index: Int(index), count: Int(count),
      bytes: try reader.readBytes(Int(length)))
  }

  /// Keeps a fragment; gives the body that it completes.
  private mutating func add(_ fragment: Fragment) throws(DecodeError) -> [UInt8]? {
    var entry =
      incomplete.firstIndex { $0.number == fragment.number }.map { incomplete.remove(at: $0) }
      ?? Incomplete(number: fragment.number, count: fragment.count, parts: [:])
    guard entry.count == fragment.count else { throw .invalid(what: "fragment count") }
    entry.parts[fragment.index] = fragment.bytes
    guard entry.length <= limit else {
      throw .tooLarge(length: UInt64(entry.length), limit: UInt64(limit))
    }
    guard entry.parts.count < entry.count else {
      return (0..<entry.count).flatMap { entry.parts[$0] ?? [] }
    }
    while incomplete.count >= Self.maximumIncomplete || waiting + entry.length > limit {
      incomplete.removeFirst()
    }
    incomplete.append(entry)
    return nil
  }
}
