import CaromCore

/// A TSIG record, which authenticates a message by a secret that the client and the server share
/// (RFC 8945 §4.2). Only HMAC-SHA256 is supported, which every server implements (RFC 8945 §6).
package struct TransactionSignature: Hashable, Sendable {
  /// The name of the algorithm.
  static let algorithm: Name = "hmac-sha256"
  /// The length of a message authentication code, in bytes. Truncated codes are not accepted.
  static let codeLength = 32
  /// The permitted difference between the clocks of the client and the server, in seconds (RFC 8945
  /// §10).
  package static let tolerance: UInt16 = 300

  /// Errors in a TSIG record (RFC 8945 §3).
  enum Failure: UInt16 {
    case badSignature = 16
    case badKey = 17
    case badTime = 18
  }

  /// The name of the key.
  package var key: Name
  /// The name of the algorithm.
  package var algorithm = Self.algorithm
  /// The time at which the message was signed, in seconds since the beginning of 1970 (48 bits).
  package var time: UInt64
  /// The permitted difference between the clocks, in seconds.
  package var tolerance = Self.tolerance
  /// The message authentication code. Empty if the server could not verify the request.
  package var code: [UInt8] = []
  /// The message's ID at the time of signing, which a forwarding server may have changed.
  package var originalID: UInt16
  /// The error that the server found in the request's signature, or zero.
  package var error: UInt16 = 0
  /// The server's time in seconds as 48 bits if the error is BADTIME, otherwise usually empty.
  package var otherData: [UInt8] = []

  /// The server's time in seconds since the beginning of 1970, from a response.
  var serverTime: UInt64 {
    guard error == Failure.badTime.rawValue, otherData.count == 6 else { return time }
    return otherData.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The fields of the record that the authentication code covers (RFC 8945 §4.3.3).
  var coveredFields: [UInt8] {
    var writer = PacketWriter(capacity: 64)
    writer.write((key.wire + [0]).map(Name.folded))
    writer.writeBigEndian(Question.anyClass)
    writer.writeBigEndian(UInt32(0))
    writer.write((algorithm.wire + [0]).map(Name.folded))
    writer.writeBigEndian(UInt16(truncatingIfNeeded: time >> 32))
    writer.writeBigEndian(UInt32(truncatingIfNeeded: time))
    writer.writeBigEndian(tolerance)
    writer.writeBigEndian(error)
    writer.writeBigEndian(UInt16(otherData.count))
    return writer.bytes + otherData
  }

  /// The record in wire format, without compressed names.
  var encoded: [UInt8] {
    var data = PacketWriter(capacity: 64 + code.count)
    data.writeBigEndian(UInt16(truncatingIfNeeded: time >> 32))
    data.writeBigEndian(UInt32(truncatingIfNeeded: time))
    data.writeBigEndian(tolerance)
    data.writeBigEndian(UInt16(code.count))
    data.write(code)
    data.writeBigEndian(originalID)
    data.writeBigEndian(error)
    data.writeBigEndian(UInt16(otherData.count))
    let bytes = algorithm.wire + [0] + data.bytes + otherData
    var head = PacketWriter(capacity: 16)
    head.writeBigEndian(RecordType.tsig.rawValue)
    head.writeBigEndian(Question.anyClass)
    head.writeBigEndian(UInt32(0))
    head.writeBigEndian(UInt16(bytes.count))
    return key.wire + [0] + head.bytes + bytes
  }
}

// MARK: - Decoding

extension MessageReader {
  /// Reads the TSIG record at the end of a message. Returns nil if the last record is of another
  /// type or the message has no additional records. The returned offset is where the record starts.
  mutating func readSignature() throws(DecodeError) -> (
    signature: TransactionSignature, offset: Int
  )? {
    _ = try readBytes(4, before: end)
    var counts: [Int] = []
    for _ in 0..<4 { counts.append(Int(try readInteger(before: end))) }
    guard counts[3] > 0 else { return nil }
    for _ in 0..<counts[0] {
      try skipName()
      _ = try readBytes(4, before: end)
    }
    for _ in 0..<counts[1] + counts[2] + counts[3] - 1 {
      try skipName()
      _ = try readBytes(8, before: end)
      _ = try readBytes(Int(try readInteger(before: end)), before: end)
    }
    let start = offset
    let key = try readName(before: end)
    let type = RecordType(rawValue: try readInteger(before: end))
    let recordClass = try readInteger(before: end)
    let timeToLive = try readBytes(4, before: end)
    let length = Int(try readInteger(before: end))
    guard type == .tsig else { return nil }
    guard recordClass == Question.anyClass, timeToLive == [0, 0, 0, 0], length == end - offset
    else { throw .invalid(what: "TSIG record") }
    return (try readSignatureData(of: key), start)
  }

  /// Reads the data of a TSIG record, which must fill the rest of the message (RFC 8945 §4.2).
  private mutating func readSignatureData(
    of key: Name
  ) throws(DecodeError) -> TransactionSignature {
    let algorithm = try readName(before: end)
    let time = try readBytes(6, before: end).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let tolerance = try readInteger(before: end)
    let code = try readBytes(Int(try readInteger(before: end)), before: end)
    let originalID = try readInteger(before: end)
    let error = try readInteger(before: end)
    let otherData = try readBytes(Int(try readInteger(before: end)), before: end)
    guard offset == end else { throw .invalid(what: "TSIG record") }
    return TransactionSignature(
      key: key, algorithm: algorithm, time: time, tolerance: tolerance, code: code,
      originalID: originalID, error: error, otherData: otherData)
  }

  private mutating func skipName() throws(DecodeError) { _ = try readName(before: end) }
}
