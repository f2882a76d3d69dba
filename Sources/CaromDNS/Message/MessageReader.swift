import CaromCore

/// Decodes a DNS message from untrusted bytes, iteratively and with bounded work. It never traps.
struct MessageReader: ~Escapable {
  /// The maximum number of bytes that the names of one message may expand to, so that compression
  /// pointers cannot multiply the work. The limit is eight times as high for messages over TCP,
  /// which may be longer than datagrams.
  static let expansionLimit = 65_536

  private let limit: Int
  private let expansionLimit: Int
  private let bytes: Span<UInt8>
  private(set) var offset = 0
  private var expanded = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, limit: Int = Message.maximumLength) {
    self.bytes = bytes
    self.limit = limit
    expansionLimit =
      limit > Message.maximumLength ? 8 * Self.expansionLimit : Self.expansionLimit
  }

  /// The offset after the last byte of the message.
  var end: Int { bytes.count }

  mutating func readMessage() throws(DecodeError) -> Message {
    guard bytes.count <= limit else {
      throw .tooLarge(length: UInt64(bytes.count), limit: UInt64(limit))
    }
    let end = bytes.count
    var message = Message(id: try readInteger(before: end), flags: try readInteger(before: end))
    var counts: [UInt16] = []
    for _ in 0..<4 { counts.append(try readInteger(before: end)) }
    for _ in 0..<counts[0] { message.questions.append(try readQuestion()) }
    message.answers = try readRecords(counts[1])
    message.authorities = try readRecords(counts[2])
    message.additionals = try readRecords(counts[3])
    return message
  }

  private mutating func readQuestion() throws(DecodeError) -> Question {
    let name = try readName(before: bytes.count)
    let type = RecordType(rawValue: try readInteger(before: bytes.count))
    let bits = try readInteger(before: bytes.count)
    return Question(name, type, wantsUnicast: bits & 0x8000 != 0, questionClass: bits & 0x7FFF)
  }

  private mutating func readRecords(_ count: UInt16) throws(DecodeError) -> [Record] {
    var records: [Record] = []
    for _ in 0..<count {
      if let record = try readRecord() { records.append(record) }
    }
    return records
  }

  /// Decodes the next record. Returns nil if only the record's data is malformed, in which case the
  /// length field still leads to the next record.
  private mutating func readRecord() throws(DecodeError) -> Record? {
    let name = try readName(before: bytes.count)
    let type = RecordType(rawValue: try readInteger(before: bytes.count))
    let bits = try readInteger(before: bytes.count)
    let high = UInt32(try readInteger(before: bytes.count))
    let low = UInt32(try readInteger(before: bytes.count))
    let length = Int(try readInteger(before: bytes.count))
    guard length <= bytes.count - offset else {
      throw .truncated(wanted: length, remaining: bytes.count - offset)
    }
    let end = offset + length
    let data = try? readData(type, before: end)
    // The work spent on malformed data counts as well.
    guard expanded <= expansionLimit else { throw expansionError }
    let isWhole = offset == end
    offset = end
    guard let data, isWhole else { return nil }
    return Record(
      name, data, timeToLive: high << 16 | low, flushesCache: bits & 0x8000 != 0,
      recordClass: bits & 0x7FFF)
  }

  private mutating func readData(_ type: RecordType, before end: Int) throws(DecodeError)
    -> RecordData
  {
    switch type {
    case .a, .aaaa:
      let count = type == .a ? 4 : 16
      guard let address = IPAddress(bytes: try readBytes(count, before: end)) else {
        throw .invalid(what: "address")
      }
      return .address(address)
    case .ptr: return .pointer(try readName(before: end))
    case .srv:
      return .service(
        priority: try readInteger(before: end), weight: try readInteger(before: end),
        port: try readInteger(before: end), target: try readName(before: end))
    case .txt: return .text(try readText(before: end))
    case .nsec:
      return .types(next: try readName(before: end), try readBitmap(before: end))
    case .cname, .ns: return .raw(type, try readName(before: end).wire + [0])
    default: return .raw(type, try readBytes(end - offset, before: end))
    }
  }

  /// Reads the strings of a TXT record, which must fill the data exactly. Empty data reads as one
  /// empty string.
  private mutating func readText(before end: Int) throws(DecodeError) -> [UInt8] {
    var at = offset
    while at < end { at += 1 + Int(bytes[at]) }
    guard at == end else { throw .truncated(wanted: at - offset, remaining: end - offset) }
    return offset == end ? [0] : try readBytes(end - offset, before: end)
  }

  /// Reads the types in window block 0 and skips the other blocks (RFC 6762 §6.1). Each block may
  /// appear once and in ascending order (RFC 4034 §4.1.2), so that the decoded record is no larger
  /// than its bytes.
  private mutating func readBitmap(before end: Int) throws(DecodeError) -> [RecordType] {
    var types: [RecordType] = []
    var next = 0
    while offset < end {
      let head = try readBytes(2, before: end)
      guard head[0] >= next else { throw .invalid(what: "NSEC bitmap order") }
      next = Int(head[0]) + 1
      guard (1...32).contains(head[1]) else { throw .invalid(what: "NSEC bitmap length") }
      let bits = try readBytes(Int(head[1]), before: end)
      guard head[0] == 0 else { continue }
      for (index, byte) in bits.enumerated() {
        for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
          types.append(RecordType(rawValue: UInt16(index * 8 + bit)))
        }
      }
    }
    return types
  }
}

// MARK: - Names and integers

extension MessageReader {
  /// Reads a name that must end before `end`. Compression pointers must lead strictly backwards,
  /// which guarantees termination (RFC 1035 §4.1.4).
  mutating func readName(before end: Int) throws(DecodeError) -> Name {
    var wire: [UInt8] = []
    var at = offset
    var runStart = offset
    var limit = end
    var resume: Int?
    while true {
      guard at < limit else { throw .truncated(wanted: 1, remaining: 0) }
      let length = Int(bytes[at])
      if length == 0 { break }
      if length >= 0xC0 {
        guard at + 1 < limit else { throw .truncated(wanted: 2, remaining: 1) }
        let target = (length & 0x3F) << 8 | Int(bytes[at + 1])
        guard target < runStart, target >= 12 else { throw .invalid(what: "compression pointer") }
        resume = resume ?? at + 2
        (at, runStart, limit) = (target, target, bytes.count)
        try count(2)
        continue
      }
      guard length <= Name.maximumLabelLength else { throw .invalid(what: "label type") }
      guard length < limit - at else {
        throw .truncated(wanted: length + 1, remaining: limit - at)
      }
      guard wire.count + length + 1 < Name.maximumLength else {
        throw .invalid(what: "name length")
      }
      for index in at...at + length { wire.append(bytes[index]) }
      try count(length + 1)
      at += length + 1
    }
    offset = resume ?? at + 1
    return Name(wire: wire)
  }

  private mutating func count(_ work: Int) throws(DecodeError) {
    expanded += work
    guard expanded <= expansionLimit else { throw expansionError }
  }

  private var expansionError: DecodeError {
    .tooLarge(length: UInt64(expanded), limit: UInt64(expansionLimit))
  }

  mutating func readInteger(before end: Int) throws(DecodeError) -> UInt16 {
    guard end - offset >= 2 else { throw .truncated(wanted: 2, remaining: end - offset) }
    defer { offset += 2 }
    return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
  }

  mutating func readBytes(_ count: Int, before end: Int) throws(DecodeError) -> [UInt8] {
    guard count <= end - offset else { throw .truncated(wanted: count, remaining: end - offset) }
    defer { offset += count }
    return Array(copying: bytes.extracting(offset..<offset + count))
  }
}

extension Message {
  /// Creates a message from `bytes`, which must not be longer than `limit`. Records with malformed
  /// data are omitted, and bytes after the last record are ignored. Throws if the message is
  /// malformed in any other way.
  package init(
    decoding bytes: [UInt8], limit: Int = Message.maximumLength
  ) throws(DecodeError) {
    var reader = MessageReader(bytes.span, limit: limit)
    self = try reader.readMessage()
  }
}
