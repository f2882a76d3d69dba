/// The types of chunks (RFC 9260 §3.2, RFC 3758, RFC 6525).
enum ChunkType {
  static let data: UInt8 = 0
  static let initiation: UInt8 = 1
  static let initiationAck: UInt8 = 2
  static let selectiveAck: UInt8 = 3
  static let heartbeat: UInt8 = 4
  static let heartbeatAck: UInt8 = 5
  static let abort: UInt8 = 6
  static let shutdown: UInt8 = 7
  static let shutdownAck: UInt8 = 8
  static let error: UInt8 = 9
  static let cookieEcho: UInt8 = 10
  static let cookieAck: UInt8 = 11
  static let shutdownComplete: UInt8 = 14
  static let reconfiguration: UInt8 = 130
  static let forward: UInt8 = 192
}

/// The types of parameters (RFC 9260 §3.3.2, RFC 3758 §3.1, RFC 5061 §4.2.7, RFC 6525 §4).
enum ParameterType {
  static let ipv4Address: UInt16 = 5
  static let ipv6Address: UInt16 = 6
  static let stateCookie: UInt16 = 7
  static let unrecognized: UInt16 = 8
  static let cookiePreservative: UInt16 = 9
  static let supportedAddressTypes: UInt16 = 12
  static let outgoingReset: UInt16 = 13
  static let resetResponse: UInt16 = 16
  static let supportedExtensions: UInt16 = 0x8008
  static let forwardSupported: UInt16 = 0xC000
}

/// The causes of errors and aborts (RFC 9260 §3.3.10).
enum ErrorCause {
  static let unrecognizedChunk: UInt16 = 6
  static let invalidParameter: UInt16 = 7
  static let unrecognizedParameters: UInt16 = 8
  static let noUserData: UInt16 = 9
  static let userInitiatedAbort: UInt16 = 12
}

/// What the two highest bits of an unknown type ask of a receiver (RFC 9260 §3.2, §3.2.1).
struct UnknownType {
  /// Whether the rest of the packet or chunk is read.
  var continues: Bool
  /// Whether the sender wants to be told.
  var isReported: Bool

  /// Creates the answer from the two highest bits, 0 to 3.
  init(bits: UInt8) {
    continues = bits & 2 != 0
    isReported = bits & 1 != 0
  }
}

extension [UInt8] {
  /// Appends the header of a chunk. `length` counts the bytes of the value that follows.
  mutating func appendChunk(_ type: UInt8, flags: UInt8 = 0, length: Int) {
    append(type)
    append(flags)
    appendBigEndian(UInt16(4 + length))
  }

  /// Appends the header of a parameter or an error cause. `length` counts the bytes of the value
  /// that follows.
  mutating func appendParameter(_ type: UInt16, length: Int) {
    appendBigEndian(type)
    appendBigEndian(UInt16(4 + length))
  }

  /// Appends a chunk ABORT with a cause that has no value.
  mutating func appendAbort(_ cause: UInt16) {
    appendChunk(ChunkType.abort, length: 4)
    appendParameter(cause, length: 0)
  }
}
