import CaromCore

/// The last applied event of each submitter, which tells events that are new from those that are
/// already in the order.
///
/// The table depends only on the entries, so that all members have the same one.
///
/// Each submitter counts for the peer that has given its events to the leader. If there are too
/// many submitters, the peer that has given the most of them loses its oldest one: a peer that
/// invents submitters displaces only its own.
package struct SequenceTable: Hashable, Sendable {
  /// The maximum number of submitters.
  package static let limit = 4096
  /// The maximum length of an encoded table, in bytes.
  static let maximumLength = VarInt.maximumLength + limit * (40 + 2 * VarInt.maximumLength)

  struct Record: Hashable, Sendable {
    var sequence: UInt64
    var index: UInt64
    /// The peer that has given the submitter's events to the leader: the submitter itself once it
    /// has done so, and otherwise the first one.
    var voucher: PeerID
  }

  private var records: [EventSource: Record] = [:]
  /// The number of records for which each peer stands.
  private var counts: [PeerID: Int] = [:]

  package init() {}

  package var count: Int { records.count }

  /// The sequence number of a submitter's last event, or 0 if it has none.
  package func last(of source: EventSource) -> UInt64 { records[source]?.sequence ?? 0 }

  package mutating func add(_ entry: LedgerEntry) {
    let old = records[entry.source]?.voucher
    let stays = old == entry.submitter || entry.voucher != entry.submitter
    let voucher = stays ? old ?? entry.voucher : entry.voucher
    set(
      Record(sequence: entry.sequence, index: entry.index, voucher: voucher), of: entry.source)
    if records.count > Self.limit { forgetOldest() }
  }

  private mutating func set(_ record: Record?, of source: EventSource) {
    if let old = records[source] {
      counts[old.voucher, default: 1] -= 1
      if counts[old.voucher] == 0 { counts[old.voucher] = nil }
    }
    if let record { counts[record.voucher, default: 0] += 1 }
    records[source] = record
  }

  /// Forgets the oldest one of the submitters of the peer that stands for the most of them. Indexes
  /// are unique, so that it does not depend on the order of a dictionary.
  private mutating func forgetOldest() {
    let most = counts.values.max() ?? 0
    let oldest = records.filter { counts[$0.value.voucher] == most }
      .min { $0.value.index < $1.value.index }
    if let oldest { set(nil, of: oldest.key) }
  }
}

extension SequenceTable: PacketCodable {
  /// Appends the number of submitters (`VarInt`), and for each of them, in order, the source (24
  /// bytes), the sequence number and the index of the last event (both `VarInt`), and the id of the
  /// peer that stands for the submitter (16 bytes).
  package func encode(into writer: inout PacketWriter) {
    writer.writeVarInt(UInt64(records.count))
    for (source, record) in records.sorted(by: { $0.key < $1.key }) {
      writer.write(source)
      writer.writeVarInt(record.sequence)
      writer.writeVarInt(record.index)
      writer.write(record.voucher)
    }
  }

  /// Reads a table. Throws if it has too many submitters, or if they are not in order.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    let count = try reader.readVarInt()
    guard count <= UInt64(Self.limit) else {
      throw .tooLarge(length: count, limit: UInt64(Self.limit))
    }
    var previous: EventSource?
    for _ in 0..<count {
      let source = try EventSource(decoding: &reader)
      if let previous, source <= previous { throw .invalid(what: "order of submitters") }
      previous = source
      let record = Record(
        sequence: try reader.readIndex(), index: try reader.readIndex(),
        voucher: try reader.readPeerID())
      set(record, of: source)
    }
  }
}

extension PacketWriter {
  mutating func write(_ source: EventSource) { source.encode(into: &self) }
}
