import CaromCore

/// The last packet of a connection, or the answer that refuses a request.
public struct Goodbye: Hashable, Sendable, PacketCodable {
  /// The maximum length of an explanation, in bytes of UTF-8.
  public static let maximumTextLength = 255

  /// The reason why a connection ends. The peer reports the `DisconnectReason` of the same name, or
  /// `connectionReset` for `forgotten`.
  public enum Code: UInt8, Sendable {
    /// The player left.
    case left = 0
    /// The session ended as both sides had agreed.
    case finished = 1
    /// The host gave the seat to another player.
    case replaced = 2
    /// All seats are taken.
    case full = 3
    /// The host cannot answer now. Try again later.
    case busy = 4
    /// The host declined. The text explains why.
    case declined = 5
    /// The peer uses another version of the session protocol or of the game.
    case versionMismatch = 6
    /// The peer plays another game, or the connection leads back to the sender.
    case wrongApplication = 7
    /// The peer violated the protocol.
    case protocolViolation = 8
    /// The peer did not answer in time.
    case timedOut = 9
    /// The host removed the peer. The text explains why.
    case kicked = 10
    /// The connection that the receiver of the goodbye uses or wants to join no longer exists.
    case forgotten = 11
    /// The receiver of the goodbye left its messages unread for too long, and the sender's queue
    /// for it stayed full.
    case tooSlow = 12
    /// One side encrypts its connections and the other does not.
    case securityMismatch = 13
    /// The id in the receiver's description does not belong to the key that the receiver has
    /// proven.
    case identityMismatch = 14
    /// The sender accepts only known peers and does not know the receiver's key.
    case untrusted = 15
    /// The receiver does not know the host's code, or another peer has used it up.
    case wrongCode = 16
    /// Too many attempts with a wrong code were made. Try again later.
    case tooManyAttempts = 17
    /// The receiver's connect token has been used.
    case tokenUsed = 18
    /// The receiver's connect token has expired.
    case tokenExpired = 19
    /// The receiver's connect token names other hosts.
    case tokenForOtherHost = 20
    /// The receiver's connect token was made before the host started.
    case tokenBeforeStart = 21
    /// By the host's clock, the receiver's connect token was made in the future.
    case tokenNotYetValid = 22
    /// The receiver's connect token was not made with a key of the host, or was changed.
    case tokenInvalid = 23
    /// The receiver's match goes on at another host, which the goodbye names.
    case moved = 24

    /// Whether a refusal of one link for this reason holds for all links of the connection.
    var concernsEveryLink: Bool {
      switch self {
      case .wrongCode, .tooManyAttempts, .tokenUsed, .tokenExpired, .tokenForOtherHost,
        .tokenBeforeStart, .tokenNotYetValid, .tokenInvalid:
        true
      default: false
      }
    }

    /// Whether a goodbye with this code contains a text in which the host explains the reason.
    fileprivate var carriesText: Bool { self == .declined || self == .kicked }
  }

  /// The reason why the connection ends.
  public var code: Code
  /// The sender's version of the session protocol or, if both sides use the same protocol version,
  /// of the game.
  public var version: UInt16
  /// A human-readable explanation. It is sent only with `declined` and `kicked`, and only if it has
  /// at most 255 bytes.
  public var text: String
  /// Where the receiver's match goes on. It is sent only with `moved`.
  public var nextHost: NextHost?

  /// Creates a goodbye. Text longer than 255 bytes is omitted.
  public init(_ code: Code, text: String = "") {
    self.init(code, version: SessionWire.version, text: text)
  }

  package init(_ code: Code, version: UInt16, text: String = "") {
    self.code = code
    self.version = version
    self.text = text.utf8Length <= Self.maximumTextLength ? text : ""
    nextHost = code == .moved ? NextHost() : nil
  }

  /// Creates the goodbye that sends a player to another host. Only a host may send it. The connect
  /// token for the other host is secret, so it is left out if the connection is not encrypted.
  public init(movedTo host: NextHost) {
    self.init(.moved)
    nextHost = host
  }

  /// Appends code, version and text and, with `moved`, the next host.
  public func encode(into writer: inout PacketWriter) {
    writer.write(code.rawValue)
    writer.write(version)
    writer.writeText(sentText)
    if code == .moved { (nextHost ?? NextHost()).encode(into: &writer) }
  }

  /// The text, or an empty string if goodbyes with this code carry no text or the text is too long.
  private var sentText: String {
    code.carriesText && text.utf8Length <= Self.maximumTextLength ? text : ""
  }

  /// Creates a goodbye from the bytes that `encode(into:)` writes. Throws `invalid` if the code is
  /// unknown, or if there is a text although goodbyes with this code carry none.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let code = Code(rawValue: try reader.read()) else { throw .invalid(what: "goodbye code") }
    self.code = code
    version = try reader.read()
    text = try reader.readText(limit: Self.maximumTextLength)
    guard text.isEmpty || code.carriesText else { throw .invalid(what: "goodbye text") }
    nextHost = code == .moved ? try NextHost(decoding: &reader) : nil
  }

  /// The reason that the receiver of the goodbye reports.
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
    case .tooSlow: .tooSlow
    case .securityMismatch: .securityMismatch
    case .identityMismatch: .identityMismatch
    case .untrusted: .untrusted("")
    case .wrongCode: .wrongCode
    case .tooManyAttempts: .tooManyAttempts
    case .tokenUsed: .tokenRefused(.used)
    case .tokenExpired: .tokenRefused(.expired)
    case .tokenForOtherHost: .tokenRefused(.otherHost)
    case .tokenBeforeStart: .tokenRefused(.madeBeforeStart)
    case .tokenNotYetValid: .tokenRefused(.notYetValid)
    case .tokenInvalid: .tokenRefused(.notAuthentic)
    case .moved: .moved(to: nextHost ?? NextHost())
    }
  }
}
