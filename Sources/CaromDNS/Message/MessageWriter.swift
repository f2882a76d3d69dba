import CaromCore

/// Writes a message piece by piece, compresses names, and takes back what does not fit.
struct MessageWriter {
  /// Bytes before the first question.
  static let headerLength = 12

  /// The most bytes that the message may take.
  let limit: Int
  /// Whether names inside SRV data are compressed; not for legacy askers (RFC 6762 §18.14).
  let compressesTargets: Bool
  private(set) var bytes: [UInt8]
  private var counts: [UInt16] = [0, 0, 0, 0]
  /// Where each name, by its exact bytes, was written.
  private var places: [[UInt8]: UInt16] = [:]
  private var newPlaces: [[UInt8]] = []

  init(id: UInt16, flags: UInt16, limit: Int, compressesTargets: Bool = true) {
    self.limit = limit
    self.compressesTargets = compressesTargets
    bytes = [UInt8](repeating: 0, count: Self.headerLength)
    bytes.reserveCapacity(512)
    overwrite(id, at: 0)
    overwrite(flags, at: 2)
  }

  /// Whether it holds nothing yet.
  var isEmpty: Bool { bytes.count == Self.headerLength }

  /// Appends a question; `false` where it does not fit.
  mutating func append(_ question: Question) -> Bool {
    attempt(.question) { writer in
      writer.write(question.key.name)
      writer.write(question.key.type.rawValue)
      writer.write(question.questionClass | (question.wantsUnicast ? 0x8000 : 0))
    }
  }

  /// Appends a record; `false` where it does not fit.
  mutating func append(_ record: Record, to section: Message.Section) -> Bool {
    attempt(section) { writer in
      writer.write(record.name)
      writer.write(record.type.rawValue)
      writer.write(record.recordClass | (record.flushesCache ? 0x8000 : 0))
      writer.write(UInt16(record.timeToLive >> 16))
      writer.write(UInt16(truncatingIfNeeded: record.timeToLive))
      let lengthPlace = writer.bytes.count
      writer.write(0)
      writer.write(record.data)
      writer.overwrite(UInt16(writer.bytes.count - lengthPlace - 2), at: lengthPlace)
    }
  }

  /// Appends all records or none; `false` where they do not fit.
  mutating func append(_ records: ArraySlice<Record>, to section: Message.Section) -> Bool {
    let before = self
    if records.allSatisfy({ append($0, to: section) }) { return true }
    self = before
    return false
  }

  /// Says that known answers follow in another packet (RFC 6762 §7.2).
  mutating func markTruncated() { bytes[2] |= 0x02 }

  private mutating func attempt(
    _ section: Message.Section, _ body: (inout MessageWriter) -> Void
  ) -> Bool {
    let start = bytes.count
    newPlaces = []
    body(&self)
    guard bytes.count <= limit, counts[section.rawValue] < .max else {
      bytes.removeLast(bytes.count - start)
      for place in newPlaces { places[place] = nil }
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

  private mutating func overwrite(_ value: UInt16, at place: Int) {
    bytes[place] = UInt8(value >> 8)
    bytes[place + 1] = UInt8(truncatingIfNeeded: value)
  }

  private mutating func write(_ name: Name, compressed: Bool = true) {
    var rest = name.wire[...]
    while let length = rest.first {
      let key = Array(rest)
      if compressed, let place = places[key] {
        write(0xC000 | place)
        return
      }
      if bytes.count < 0x4000, places[key] == nil {
        places[key] = UInt16(bytes.count)
        newPlaces.append(key)
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
  /// The message's bytes with names compressed; everything is written, whatever its length.
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
