import CaromCore

/// The first datagram of a caller, or of one whose address changed.
package struct Hello: Hashable, Sendable {
  /// How many bytes a hello has, before a token, padding or a packet.
  package static let length = 36
  /// How long a hello without a cookie is: what is answered is always shorter by far.
  package static let paddedLength = 1200
  /// The version of the protocol that this is.
  package static let version: UInt16 = 2

  private static let magic: UInt32 = 0x324D_5243  // "CRM2"
  private static let resumeFlag: UInt8 = 0x01
  private static let tokenFlag: UInt8 = 0x02

  package var version: UInt16
  package var key: ConnectionKey
  /// Grows with each new attempt to move or to resume.
  package var epoch: UInt32
  /// The key is to exist already.
  package var resumes: Bool
  /// What the host gave out for this address.
  package var cookie: Cookie?
  /// What the host gave out for this address while there was another connection: in the place of
  /// a cookie, for a new connection.
  package var token: AddressToken?

  /// Whether it stands alone, and is filled up; else a data packet may follow.
  package var isPadded: Bool { cookie == nil && token == nil }
  /// How many bytes it has before padding or a packet.
  package var length: Int { Self.length + (token == nil ? 0 : AddressToken.length) }

  package init(
    version: UInt16 = Self.version, key: ConnectionKey, epoch: UInt32, resumes: Bool,
    cookie: Cookie?, token: AddressToken? = nil
  ) {
    self.version = version
    self.key = key
    self.epoch = epoch
    self.resumes = resumes
    self.cookie = cookie
    self.token = token
  }

  /// Reads what stands behind the first byte. Without a cookie or a token the padding is read too;
  /// with one, a caller's data packet may be left.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read(UInt32.self) == Self.magic else { throw .invalid(what: "hello: magic") }
    version = try reader.read()
    key = ConnectionKey(prefix: try reader.read(), rest: try reader.read())
    guard key != .none else { throw .invalid(what: "hello: no key") }
    epoch = try reader.read()
    let flags = try reader.read(UInt8.self)
    guard flags <= Self.tokenFlag else { throw .invalid(what: "hello: flags") }
    resumes = flags == Self.resumeFlag
    cookie = Cookie(bits: try reader.read())
    if flags == Self.tokenFlag {
      guard cookie == nil else { throw .invalid(what: "hello: a cookie and a token") }
      token = try AddressToken(decoding: &reader)
    }
    guard isPadded else { return }
    guard reader.offset + reader.remaining == Self.paddedLength else {
      throw .invalid(what: "hello: length")
    }
    while reader.remaining > 0 {
      guard try reader.read(UInt8.self) == 0 else { throw .invalid(what: "hello: padding") }
    }
  }

  /// Appends the hello; without a cookie or a token with its padding.
  package func write(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.helloByte)
    writer.append(integer: Self.magic)
    writer.append(integer: version)
    writer.append(integer: key.prefix)
    writer.append(integer: key.rest)
    writer.append(integer: epoch)
    writer.append(token != nil ? Self.tokenFlag : resumes ? Self.resumeFlag : 0)
    writer.append(integer: cookie?.bits ?? 0)
    token?.write(to: &writer)
    if isPadded { writer.appendPadding(to: Self.paddedLength) }
  }
}
