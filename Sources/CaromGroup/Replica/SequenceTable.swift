import CaromCore

/// The last applied event of each submitter, which tells events that are new from those that are
/// already in the order.
///
/// The table depends only on the entries, so that all members have the same one.
package struct SequenceTable: Hashable, Sendable {
  /// The maximum number of submitters. Beyond it, the one whose last event is the oldest is
  /// forgotten.
  package static let limit = 4096
  /// The maximum length of an encoded table, in bytes.
  static let maximumLength = VarInt.maximumLength + limit * (24 + 2 * VarInt.maximumLength)

  struct Record: Hashable, Sendable {
    var sequence: UInt64
    var index: UInt64
  }

  private var records: [EventSource: Record] = [:]

  package init() {}

  package var count: Int { records.count }

  /// The sequence number of a submitter's last event, or 0 if it has none.
  package func last(of source: EventSource) -> UInt64 { records[source]?.sequence ?? 0 }

  package mutating func add(_ entry: LedgerEntry) {
    records[entry.source] = Record(sequence: entry.sequence, index: entry.index)
    guard records.count > Self.limit else { return }
    // Indexes are unique, so that the oldest one does not depend on the dictionary's order.
    if let oldest = records.min(by: { $0.value.index < $1.value.index }) {
      records[oldest.key] = nil
    }
  }
}

extension SequenceTable: PacketCodable {
  /// Appends the number of submitters (`VarInt`), and for each of them, in order, the source (24
  /// bytes), the sequence number and the index of the last event (both `VarInt`).
  package func encode(into writer: inout PacketWriter) {
    writer.writeVarInt(UInt64(records.count))
    for (source, record) in records.sorted(by: { $0.key < $1.key }) {
      writer.write(source)
      writer.writeVarInt(record.sequence)
      writer.writeVarInt(record.index)
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
      records[source] = Record(
        sequence: try reader.readIndex(), index: try reader.readIndex())
    }
  }
}

extension PacketWriter {
  mutating func write(_ source: EventSource) { source.encode(into: &self) }
}
