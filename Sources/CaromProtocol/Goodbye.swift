import CaromCore

/// The last packet of a connection, or the answer to a request that was not granted.
package struct Goodbye: Hashable, Sendable, PacketCodable {
  /// The longest explanation, UTF-8 bytes.
  package static let maximumTextLength = 255

  package enum Code: UInt8, Sendable {
    case left = 0
    case finished = 1
    case replaced = 2
    case full = 3
    case busy = 4
    case declined = 5
    case versionMismatch = 6
    case wrongApplication = 7
    case protocolViolation = 8
    case timedOut = 9
  }

  package var code: Code
  /// The version of the session protocol (or, where that agrees, of the game) that the sender has.
  package var version: UInt16
  package var text: String

  package init(_ code: Code, version: UInt16 = SessionWire.version, text: String = "") {
    self.code = code
    self.version = version
    self.text = text.utf8.count <= Self.maximumTextLength ? text : ""
  }

  package func encode(into writer: inout PacketWriter) {
    writer.write(code.rawValue)
    writer.write(version)
    writer.writeText(text)
  }

  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let code = Code(rawValue: try reader.read()) else { throw .invalid(what: "goodbye code") }
    self.code = code
    version = try reader.read()
    text = try reader.readText(limit: Self.maximumTextLength)
  }

  /// The reason that the side that receives it reports.
  package var reason: DisconnectReason {
    switch code {
    case .left: .left
    case .finished: .finished
    case .replaced: .replaced
    case .full: .full
    case .busy: .busy
    case .declined: .declined(text)
    case .versionMismatch: .versionMismatch(theirs: version)
    case .wrongApplication: .wrongApplication
    case .protocolViolation: .protocolViolation
    case .timedOut: .timedOut
    }
  }
}
