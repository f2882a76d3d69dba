import CaromCore
import CaromProtocol
import WebEngine

/// Who joins a host, as the page writes it to the shared buffer in little-endian order: the 16
/// bytes of the player's id, the version of the game's messages (u16), the channels of the inputs
/// and of other messages (u8 each), the length of the application's name (u8), that name, and the
/// player's name to the end; both in UTF-8.
package struct JoinRequest: Hashable, Sendable {
  /// The player.
  package let info: PeerInfo
  /// The channels of the match.
  package let inputs, control: UInt8

  /// Reads a request. Throws if it is cut or if a name is too long, empty or not valid UTF-8: the
  /// player's own name may be empty and is cut at 63 bytes.
  package init(_ bytes: Span<UInt8>) throws(DecodeError) {
    var reader = PacketReader(bytes)
    let id = PeerID(high: try reader.readBigEndian(), low: try reader.readBigEndian())
    let version: UInt16 = try reader.read()
    inputs = try reader.read(UInt8.self)
    control = try reader.read(UInt8.self)
    guard inputs != control else { throw .invalid(what: "channels") }
    let length = Int(try reader.read(UInt8.self))
    let application = String(utf8Bytes: try reader.readBytes(length)) ?? ""
    guard (1...PeerInfo.maximumApplicationLength).contains(application.utf8.count) else {
      throw .invalid(what: "application")
    }
    guard let name = String(utf8Bytes: reader.readRest()) else {
      throw .invalid(what: "name")
    }
    info = PeerInfo(
      id: id, name: name.asPlayerName, application: application, applicationVersion: version)
  }
}
