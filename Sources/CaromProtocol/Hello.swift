import CaromCore

/// The first datagram of a caller, or of one whose address changed.
package struct Hello: Hashable, Sendable {
  /// How many bytes a hello has, before padding or a packet.
  package static let length = 36
  /// How long a hello without a cookie is: what is answered is always shorter by far.
  package static let paddedLength = 1200
  /// The version of the protocol that this is.
  package static let version: UInt16 = 2

  private static let magic: UInt32 = 0x324D_5243  // "CRM2"
  private static let resumeFlag: UInt8 = 0x01

  package var version: UInt16
  package var key: ConnectionKey
  /// Grows with each new attempt to move or to resume.
  package var epoch: UInt32
  /// The key is to exist already.
  package var resumes: Bool
  /// What the host gave out for this address.
  package var cookie: Cookie?

  package init(
    version: UInt16 = Self.version, key: ConnectionKey, epoch: UInt32, resumes: Bool,
    cookie: Cookie?
  ) {
    self.version = version
    self.key = key
    self.epoch = epoch
    self.resumes = resumes
    self.cookie = cookie
  }

  /// Reads what stands behind the first byte. Without a cookie the padding is read too; with one,
  /// a caller's data packet may be left.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read(UInt32.self) == Self.magic else { throw .invalid(what: "hello: magic") }
    version = try reader.read()
    key = ConnectionKey(prefix: try reader.read(), rest: try reader.read())
    guard key != .none else { throw .invalid(what: "hello: no key") }
    epoch = try reader.read()
    let flags = try reader.read(UInt8.self)
    guard flags & ~Self.resumeFlag == 0 else { throw .invalid(what: "hello: flags") }
    resumes = flags & Self.resumeFlag != 0
    cookie = Cookie(bits: try reader.read())
    guard cookie == nil else { return }
    guard reader.offset + reader.remaining == Self.paddedLength else {
      throw .invalid(what: "hello: length")
    }
    while reader.remaining > 0 {
      guard try reader.read(UInt8.self) == 0 else { throw .invalid(what: "hello: padding") }
    }
  }

  /// Appends the hello; without a cookie with its padding.
  package func write(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.helloByte)
    writer.append(integer: Self.magic)
    writer.append(integer: version)
    writer.append(integer: key.prefix)
    writer.append(integer: key.rest)
    writer.append(integer: epoch)
    writer.append(resumes ? Self.resumeFlag : 0)
    writer.append(integer: cookie?.bits ?? 0)
    if cookie == nil { writer.appendPadding(to: Self.paddedLength) }
  }
}
