import CaromCore

/// Encodes a message entry by entry with compressed names, and omits entries that do not fit.
struct MessageWriter {
  /// The length of the message header, in bytes.
  static let headerLength = 12

  /// The maximum length of the message, in bytes.
  let limit: Int
  /// Whether target names in SRV data are compressed. Responses to legacy queriers must not
  /// compress them (RFC 6762 §18.14).
  let compressesTargets: Bool
  private(set) var bytes: [UInt8]
  private var counts: [UInt16] = [0, 0, 0, 0]
  /// The offset of each name written so far, keyed by its exact bytes.
  private var offsets: [[UInt8]: UInt16] = [:]
  private var newOffsets: [[UInt8]] = []

  init(id: UInt16, flags: UInt16, limit: Int, compressesTargets: Bool = true) {
    self.limit = limit
    self.compressesTargets = compressesTargets
    bytes = [UInt8](repeating: 0, count: Self.headerLength)
    bytes.reserveCapacity(512)
    overwrite(id, at: 0)
    overwrite(flags, at: 2)
  }

  /// Whether no question and no record has been written yet.
  var isEmpty: Bool { bytes.count == Self.headerLength }

  /// Appends a question and returns true, or returns false if the question does not fit.
  mutating func append(_ question: Question) -> Bool {
    attempt(.question) { writer in
      writer.write(question.key.name)
      writer.write(question.key.type.rawValue)
      writer.write(question.questionClass | (question.wantsUnicast ? 0x8000 : 0))
    }
  }

  /// Appends a record and returns true, or returns false if the record does not fit.
  mutating func append(_ record: Record, to section: Message.Section) -> Bool {
    attempt(section) { writer in
      writer.write(record.name)
      writer.write(record.type.rawValue)
      writer.write(record.recordClass | (record.flushesCache ? 0x8000 : 0))
      writer.write(UInt16(record.timeToLive >> 16))
      writer.write(UInt16(truncatingIfNeeded: record.timeToLive))
      let lengthOffset = writer.bytes.count
      writer.write(0)
      writer.write(record.data)
      writer.overwrite(UInt16(writer.bytes.count - lengthOffset - 2), at: lengthOffset)
    }
  }

  /// Appends all the records and returns true, or appends none and returns false if they do not all
  /// fit.
  mutating func append(_ records: ArraySlice<Record>, to section: Message.Section) -> Bool {
    let before = self
    if records.allSatisfy({ append($0, to: section) }) { return true }
    self = before
    return false
  }

  /// Sets the TC bit, which announces more known answers in another packet (RFC 6762 §7.2).
  mutating func markTruncated() { bytes[2] |= 0x02 }

  private mutating func attempt(
    _ section: Message.Section, _ body: (inout MessageWriter) -> Void
  ) -> Bool {
    let start = bytes.count
    newOffsets = []
    body(&self)
    guard bytes.count <= limit, counts[section.rawValue] < .max else {
      bytes.removeLast(bytes.count - start)
      for key in newOffsets { offsets[key] = nil }
      return false
    }
    counts[section.rawValue] += 1
    overwrite(counts[section.rawValue], at: 4 + 2 * section.rawValue)
    return true
  }

  private mutating func write(_ value: UInt16) {
    bytes.append(UInt8(value >> 8))
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  private mutating func overwrite(_ value: UInt16, at offset: Int) {
    bytes[offset] = UInt8(value >> 8)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
  }

  private mutating func write(_ name: Name, compressed: Bool = true) {
    var rest = name.wire[...]
    while let length = rest.first {
      let key = Array(rest)
      if compressed, let offset = offsets[key] {
        write(0xC000 | offset)
        return
      }
      if bytes.count < 0x4000, offsets[key] == nil {
        offsets[key] = UInt16(bytes.count)
        newOffsets.append(key)
      }
      bytes.append(contentsOf: rest.prefix(Int(length) + 1))
      rest = rest.dropFirst(Int(length) + 1)
    }
    bytes.append(0)
  }

  private mutating func write(_ data: RecordData) {
    switch data {
    case .pointer(let name): write(name)
    case .service(let priority, let weight, let port, let target):
      for field in [priority, weight, port] { write(field) }
      write(target, compressed: compressesTargets)
    case .types(let next, let types):
      write(next)
      bytes.append(contentsOf: RecordData.bitmap(of: types))
    case .address, .text, .raw: bytes.append(contentsOf: data.uncompressed)
    }
  }
}

extension Message {
  /// Encodes the message with name compression, without a limit on its length. `compressesTargets`
  /// tells whether the targets of SRV records are compressed too.
  package func encoded(compressesTargets: Bool = true) -> [UInt8] {
    var writer = MessageWriter(
      id: id, flags: flags, limit: 65_535, compressesTargets: compressesTargets)
    for question in questions { _ = writer.append(question) }
    for record in answers { _ = writer.append(record, to: .answer) }
    for record in authorities { _ = writer.append(record, to: .authority) }
    for record in additionals { _ = writer.append(record, to: .additional) }
    return writer.bytes
  }
}
