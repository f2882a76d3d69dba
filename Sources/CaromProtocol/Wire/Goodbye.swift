import CaromCore

/// The last packet of a connection, or the answer to a request that was not granted.
public struct Goodbye: Hashable, Sendable, PacketCodable {
  /// The longest explanation, UTF-8 bytes.
  public static let maximumTextLength = 255

  /// Why; the peer reports the `DisconnectReason` of the same name.
  public enum Code: UInt8, Sendable {
    /// The player went away.
    case left = 0
    /// The session is over, as agreed.
    case finished = 1
    /// The seat was given to somebody else.
    case replaced = 2
    /// No seat is free.
    case full = 3
    /// Ask again later.
    case busy = 4
    /// The text says why.
    case declined = 5
    /// The peer's version is another.
    case versionMismatch = 6
    /// The peer plays another game, or called itself.
    case wrongApplication = 7
    /// The peer broke the protocol.
    case protocolViolation = 8
    /// The peer took too long.
    case timedOut = 9
    /// The host wants the peer to go; the text says why.
    case kicked = 10
    /// There is no such connection, or not any more.
    case forgotten = 11
  }

  /// Why.
  public var code: Code
  /// The version of the session protocol (or, where that agrees, of the game) that the sender has.
  public var version: UInt16
  /// An explanation for people; only `declined` and `kicked` carry one.
  public var text: String

  /// A goodbye; a text over 255 bytes is left out.
  public init(_ code: Code, text: String = "") {
    self.init(code, version: SessionWire.version, text: text)
  }

  package init(_ code: Code, version: UInt16, text: String = "") {
    self.code = code
    self.version = version
    self.text = text.utf8.count <= Self.maximumTextLength ? text : ""
  }

  /// Appends code, version and text.
  public func encode(into writer: inout PacketWriter) {
    writer.write(code.rawValue)
    writer.write(version)
    writer.writeText(text)
  }

  /// Reads what `encode(into:)` wrote; an unknown code is `invalid`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
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
    case .kicked: .kicked(text)
    case .forgotten: .connectionReset
    }
  }
}
