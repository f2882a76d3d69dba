import CaromCore

/// The first datagram that an initiator sends from an address: to begin a connection, or to move
/// one to a new address.
package struct Hello: Hashable, Sendable {
  /// The length of a hello in bytes, without a token, padding or data packet.
  package static let length = 36
  /// The length of a hello with neither cookie nor token, in bytes. It is padded to be much longer
  /// than the answer, so that a spoofed hello cannot be used for an amplification attack.
  package static let paddedLength = 1200
  /// The length of such a hello on a data channel, which carries no longer datagram in one piece.
  package static let paddedChannelLength = SessionWire.dataChannelPayload
  /// The version of the session protocol that this module implements in plaintext.
  package static let version: UInt16 = 2

  private static let magic: UInt32 = 0x324D_5243  // "CRM2"
  private static let sealedMagic: UInt32 = 0x334D_5243  // "CRM3"
  private static let resumeFlag: UInt8 = 0x01
  private static let tokenFlag: UInt8 = 0x02
  private static let tagFlag: UInt8 = 0x04
  private static let ticketFlag: UInt8 = 0x08

  package var version: UInt16
  package var key: ConnectionKey
  /// A number that the initiator increases with each attempt to begin, move or resume the path.
  package var epoch: UInt32
  /// Whether the hello is valid only if the responder already has a connection with this key.
  package var resumes: Bool
  /// The cookie that the host sent to this address; nil if there is none.
  package var cookie: Cookie?
  /// The token that the host issued to this address during an earlier connection; nil if there is
  /// none. It takes the place of a cookie in the first hello of a new connection.
  package var token: AddressToken?
  /// The proof that the sender is the initiator of the encrypted connection; nil if the hello has
  /// no cookie, or if the handshake has not derived the keys yet.
  package var tag: AuthenticationTag?
  /// Whether the connection is encrypted.
  package var isSealed: Bool

  /// Whether the first message of a handshake with a connect token follows, in place of a cookie.
  /// The datagram is padded after that message.
  package var hasTicket = false

  /// Whether the hello is padded. Nothing else can follow a padded hello in the same datagram.
  package var isPadded: Bool { cookie == nil && token == nil && !hasTicket }
  /// The length of this hello in bytes, without padding or a data packet.
  package var length: Int {
    Self.length + (token == nil ? 0 : AddressToken.length)
      + (tag == nil ? 0 : AuthenticationTag.length)
  }

  /// Whether the hello has the version that this module implements.
  package var hasOwnVersion: Bool {
    version == (isSealed ? SessionWire.sealedVersion : Self.version)
  }

  /// The bytes that the tag authenticates: the connection's key, the epoch and the cookie.
  var authenticatedBytes: [UInt8] {
    var writer = PacketWriter(capacity: 28)
    writer.write(key.prefix)
    writer.write(key.rest)
    writer.write(epoch)
    writer.write(cookie?.bits ?? 0)
    return writer.bytes
  }

  /// The bytes of the hello without padding. They are part of what the first message of
  /// a handshake with a known host is bound to.
  var encoded: [UInt8] {
    var writer = FrameWriter(limit: Self.paddedLength)
    writeFields(to: &writer)
    return writer.takeBytes()
  }

  package init(
    version: UInt16? = nil, key: ConnectionKey, epoch: UInt32, resumes: Bool, cookie: Cookie?,
    token: AddressToken? = nil, isSealed: Bool = false
  ) {
    self.version = version ?? (isSealed ? SessionWire.sealedVersion : Self.version)
    self.isSealed = isSealed
    self.key = key
    self.epoch = epoch
    self.resumes = resumes
    self.cookie = cookie
    self.token = token
  }

  /// Creates a hello from the bytes that follow its first byte. After a hello with a cookie or a
  /// token, the initiator's data packet may remain in `reader`.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    let magic: UInt32 = try reader.read()
    isSealed = magic == Self.sealedMagic
    guard isSealed || magic == Self.magic else { throw .invalid(what: "hello: magic") }
    version = try reader.read()
    key = ConnectionKey(prefix: try reader.read(), rest: try reader.read())
    guard key != .none else { throw .invalid(what: "hello: no key") }
    epoch = try reader.read()
    var flags = try reader.read(UInt8.self)
    let hasTag = isSealed && flags & Self.tagFlag != 0
    if hasTag { flags ^= Self.tagFlag }
    hasTicket = isSealed && flags == Self.ticketFlag
    guard hasTicket || flags <= Self.tokenFlag else { throw .invalid(what: "hello: flags") }
    resumes = flags == Self.resumeFlag
    cookie = Cookie(bits: try reader.read())
    if hasTicket {
      guard cookie == nil, !hasTag else { throw .invalid(what: "hello: a cookie and a ticket") }
    }
    if hasTag {
      guard cookie != nil, flags != Self.tokenFlag else { throw .invalid(what: "hello: tag") }
      tag = try AuthenticationTag(decoding: &reader)
    }
    if flags == Self.tokenFlag {
      guard cookie == nil else { throw .invalid(what: "hello: a cookie and a token") }
      token = try AddressToken(decoding: &reader)
    }
    guard isPadded || hasTicket else { return }
    let length = reader.offset + reader.remaining
    guard length == Self.paddedLength || length == Self.paddedChannelLength && isPadded else {
      throw .invalid(what: "hello: length")
    }
    guard !hasTicket else { return }
    while reader.remaining > 0 {
      guard try reader.read(UInt8.self) == 0 else { throw .invalid(what: "hello: padding") }
    }
  }

  /// Appends the hello, padded to `padding` if it has neither cookie nor token.
  package func write(to writer: inout FrameWriter, padding: Int = paddedLength) {
    writeFields(to: &writer)
    if isPadded { writer.appendPadding(to: padding) }
  }

  private func writeFields(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.helloByte)
    writer.append(integer: isSealed ? Self.sealedMagic : Self.magic)
    writer.append(integer: version)
    writer.append(integer: key.prefix)
    writer.append(integer: key.rest)
    writer.append(integer: epoch)
    let flags =
      token != nil
      ? Self.tokenFlag : hasTicket ? Self.ticketFlag : resumes ? Self.resumeFlag : 0
    writer.append(tag == nil ? flags : flags | Self.tagFlag)
    writer.append(integer: cookie?.bits ?? 0)
    tag?.write(to: &writer)
    token?.write(to: &writer)
  }
}
