import CaromCore

/// A chunk INIT or INIT ACK (RFC 9260 §3.3.2, §3.3.3), with the parameters that are of use over
/// DTLS.
struct InitChunk: Sendable {
  /// The maximum length of a cookie, in bytes. Those of known implementations have less than 500.
  static let maximumCookie = 1_024
  /// The maximum number of bytes of unrecognized parameters that are reported.
  static let maximumUnrecognized = 128
  /// The number of streams that is announced in either direction. One is used.
  static let streams: UInt16 = 16
  /// The receive window that is announced in bytes. Messages are delivered at once, so it is never
  /// used up.
  static let window: UInt32 = 1 << 20

  /// The tag of the packets to the sender of the chunk.
  var tag: UInt32
  /// The receive window of the sender, in bytes.
  var window: UInt32
  /// The TSN of the sender's first message.
  var firstTSN: TSN
  /// Whether the sender lets messages be abandoned (RFC 3758 §3.1).
  var supportsForward = false
  /// The cookie of an INIT ACK.
  var cookie: [UInt8] = []
  /// Parameters that the sender wants to be told of, whole and padded.
  var unrecognized: [UInt8] = []

  init(tag: UInt32, firstTSN: TSN) {
    self.tag = tag
    self.firstTSN = firstTSN
    window = Self.window
  }

  /// Reads a chunk. Returns nil if a field has a value that the RFC forbids, or a parameter is
  /// truncated.
  init?(_ chunk: Span<UInt8>) {
    guard chunk.count >= 20 else { return nil }
    tag = chunk.bigEndian32(at: 4)
    window = chunk.bigEndian32(at: 8)
    firstTSN = TSN(chunk.bigEndian32(at: 16))
    guard tag != 0, window >= 1_500, chunk.bigEndian16(at: 12) > 0, chunk.bigEndian16(at: 14) > 0
    else { return nil }
    guard readParameters(chunk) else { return nil }
  }

  /// Whether `other` is from the same attempt of the same sender.
  func isSame(as other: InitChunk) -> Bool { tag == other.tag && firstTSN == other.firstTSN }

  private mutating func readParameters(_ chunk: Span<UInt8>) -> Bool {
    var offset = 20
    while chunk.count - offset >= 4 {
      let type = chunk.bigEndian16(at: offset)
      let length = Int(chunk.bigEndian16(at: offset + 2))
      guard length >= 4, length <= chunk.count - offset else { return false }
      guard readParameter(type, chunk.extracting(offset..<offset + length)) else { return true }
      offset += padded(length)
    }
    return true
  }

  /// Reads a parameter, and returns whether those after it are to be read.
  private mutating func readParameter(_ type: UInt16, _ parameter: Span<UInt8>) -> Bool {
    switch type {
    case ParameterType.forwardSupported: supportsForward = true
    case ParameterType.stateCookie:
      if parameter.count - 4 <= Self.maximumCookie {
        cookie = Array(copying: parameter.extracting(droppingFirst: 4))
      }
    case ParameterType.ipv4Address, ParameterType.ipv6Address, ParameterType.unrecognized,
      ParameterType.cookiePreservative, ParameterType.supportedAddressTypes,
      ParameterType.supportedExtensions:
      break
    default:
      let answer = UnknownType(bits: UInt8(type >> 14))
      if answer.isReported { report(parameter) }
      return answer.continues
    }
    return true
  }

  private mutating func report(_ parameter: Span<UInt8>) {
    guard unrecognized.count + padded(parameter.count) <= Self.maximumUnrecognized else { return }
    unrecognized.append(copying: parameter)
    unrecognized.pad(from: 0)
  }

  /// Appends the chunk, with `reported` as a list of whole parameters that were not recognized.
  func append(_ type: UInt8, reporting reported: [UInt8] = [], to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.appendChunk(type, length: 0)
    bytes.appendBigEndian(tag)
    bytes.appendBigEndian(window)
    bytes.appendBigEndian(Self.streams)
    bytes.appendBigEndian(Self.streams)
    bytes.appendBigEndian(firstTSN.value)
    bytes.appendParameter(ParameterType.forwardSupported, length: 0)
    bytes.appendParameter(ParameterType.supportedExtensions, length: 2)
    bytes += [ChunkType.forward, ChunkType.reconfiguration, 0, 0]
    if !cookie.isEmpty {
      bytes.appendParameter(ParameterType.stateCookie, length: cookie.count)
      bytes += cookie
      bytes.pad(from: start)
    }
    appendReports(reported, to: &bytes)
    bytes.overwriteBigEndian(UInt16(bytes.count - start), at: start + 2)
  }

  /// Appends each of the whole parameters in `reported` as the value of a parameter of its own.
  private func appendReports(_ reported: [UInt8], to bytes: inout [UInt8]) {
    var offset = 0
    while offset < reported.count {
      let length = Int(reported.span.bigEndian16(at: offset + 2))
      bytes.appendParameter(ParameterType.unrecognized, length: length)
      bytes += reported[offset..<offset + padded(length)]
      offset += padded(length)
    }
  }
}
