import CaromCore

/// Extracts packets from the datagrams of one `DatagramEncoder`. Each sender needs a decoder of its
/// own.
///
/// Datagrams may be lost, duplicated and reordered. A packet that fits in one datagram is returned
/// each time that the datagram arrives, duplicates included. A fragmented packet is returned when
/// its last missing fragment arrives. The memory for incomplete packets is bounded; the oldest ones
/// are dropped to make room. A malformed datagram is dropped as a whole: `receive` throws an error,
/// returns none of the packets, and stores none of the fragments.
public struct DatagramDecoder: Sendable {
  /// The maximum number of packets that may be incomplete at the same time.
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

  /// The maximum length of a body, in bytes. This limit also bounds the total size of all stored
  /// fragments.
  public let limit: Int
  /// The packets that lack fragments, least recently updated first.
  private var incomplete: [Incomplete] = []

  /// Creates a decoder with no stored fragments.
  public init(limit: Int = FrameDecoder.defaultLimit) {
    precondition(limit >= 0, "limit is a number of bytes and must not be negative")
    self.limit = limit
  }

  /// The total size of the stored fragments of incomplete packets, in bytes.
  public var incompleteBytes: Int { incomplete.reduce(0) { $0 + $1.length } }

  /// Decodes a datagram, and returns the packets that it contains or completes, in order.
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
    let before = incomplete
    do throws(DecodeError) {
      var packets: [Packet] = []
      for entry in entries {
        if let packet = entry.packet { packets.append(packet) }
        if let fragment = entry.fragment, let body = try add(fragment) {
          var reader = PacketReader(body.span)
          packets.append(try Packet(decoding: &reader))
        }
      }
      return packets
    } catch {
      incomplete = before  // a malformed datagram has no effect
      throw error
    }
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

  /// Stores a fragment. Returns the packet's body, or nil if fragments are still missing.
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
    while incomplete.count >= Self.maximumIncomplete || incompleteBytes + entry.length > limit {
      incomplete.removeFirst()
    }
    incomplete.append(entry)
    return nil
  }
}
