import CaromCore

/// An event in the order that all members of a group share.
public struct LedgerEntry: Hashable, Sendable {
  /// The maximum length of an event, in bytes.
  public static let maximumLength = 16_384

  /// The place of the entry in the order, from 1. An entry that a group takes over from another one
  /// after they have merged has another index there.
  public package(set) var index: UInt64
  /// The peer that submitted the event, and the start of its process.
  package let source: EventSource
  /// The number of the event among those that its submitter has submitted since it was started,
  /// from 1.
  public let sequence: UInt64
  /// The peer that gave the event to the leader: the submitter, or a member that had received the
  /// event before the submitter left. Only the id of this peer was proven to the leader.
  public let voucher: PeerID
  /// The event.
  public let bytes: [UInt8]
  /// The term of the leader that has appended the entry.
  package let term: UInt64

  package init(
    index: UInt64, source: EventSource, sequence: UInt64, voucher: PeerID, bytes: [UInt8],
    term: UInt64
  ) {
    self.index = index
    self.source = source
    self.sequence = sequence
    self.voucher = voucher
    self.bytes = bytes
    self.term = term
  }

  /// The peer that submitted the event.
  public var submitter: PeerID { source.peer }

  /// The memory that the entry takes, in bytes, about.
  var cost: Int { bytes.count + 96 }

  var position: LedgerPosition { LedgerPosition(index: index, term: term) }
}

/// A place in the order. Two members whose entries at one index have the same term have the same
/// entries up to that index, because a leader appends each entry to the log that it has.
package struct LedgerPosition: Hashable, Sendable {
  package var index: UInt64
  /// The term of the leader that has appended the entry: a random number. 0 before the first entry.
  package var term: UInt64

  /// The place before the first entry.
  package static let zero = LedgerPosition(index: 0, term: 0)

  package init(index: UInt64, term: UInt64) {
    self.index = index
    self.term = term
  }
}

/// An event on its way to the leader.
package struct SubmittedEvent: Hashable, Sendable {
  package var source: EventSource
  package var sequence: UInt64
  package var bytes: [UInt8]

  package init(source: EventSource, sequence: UInt64, bytes: [UInt8]) {
    self.source = source
    self.sequence = sequence
    self.bytes = bytes
  }

  init(_ entry: LedgerEntry) {
    self.init(source: entry.source, sequence: entry.sequence, bytes: entry.bytes)
  }
}

extension LedgerPosition: PacketCodable {
  /// Appends the index (`VarInt`) and the term (8 bytes).
  package func encode(into writer: inout PacketWriter) {
    writer.writeVarInt(index)
    writer.write(term)
  }

  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    index = try reader.readIndex()
    term = try reader.read()
  }
}

extension SubmittedEvent: PacketCodable {
  /// Appends the source (24 bytes), the sequence number (`VarInt`) and the event (`VarInt` length
  /// and bytes).
  package func encode(into writer: inout PacketWriter) {
    writer.write(source)
    writer.writeVarInt(sequence)
    writer.writeVarInt(UInt64(bytes.count))
    writer.write(bytes)
  }

  /// Reads an event. Throws if its number is 0 or the event is too long.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    source = try EventSource(decoding: &reader)
    sequence = try reader.readIndex()
    guard sequence > 0 else { throw .invalid(what: "sequence number") }
    bytes = try reader.readBytes(limit: LedgerEntry.maximumLength)
  }
}

extension LedgerEntry {
  /// Appends the entry without its index: the event, the voucher (16 bytes) and the term (8 bytes).
  func encode(into writer: inout PacketWriter) {
    SubmittedEvent(self).encode(into: &writer)
    writer.write(voucher)
    writer.write(term)
  }

  /// Reads the entry with the given index.
  init(decoding reader: inout PacketReader, index: UInt64) throws(DecodeError) {
    let event = try SubmittedEvent(decoding: &reader)
    let voucher = try reader.readPeerID()
    self.init(
      index: index, source: event.source, sequence: event.sequence, voucher: voucher,
      bytes: event.bytes, term: try reader.read())
  }
}

extension PacketReader {
  /// The highest index, sequence number or version that is accepted, so that adding to it never
  /// overflows.
  static var indexLimit: UInt64 { 1 << 62 }

  mutating func readIndex() throws(DecodeError) -> UInt64 {
    let index = try readVarInt()
    guard index <= Self.indexLimit else {
      throw .tooLarge(length: index, limit: Self.indexLimit)
    }
    return index
  }

  /// Reads a length (`VarInt`) and as many bytes.
  mutating func readBytes(limit: Int) throws(DecodeError) -> [UInt8] {
    let length = try readVarInt()
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: UInt64(limit)) }
    return try readBytes(Int(length))
  }
}
