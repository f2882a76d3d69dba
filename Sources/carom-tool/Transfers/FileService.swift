import CaromCore
import CaromDiscovery
import CaromNearby
import CaromTransport

/// The service by which `carom send` finds `carom receive`.
enum FileService {
  /// The service's type.
  static let type: ServiceType = "_carom-files._udp"
  /// The name of the application in the session's handshake.
  static let application = "carom-files"

  /// Returns this side's description of itself. The id is that of the session's identity.
  static func info(_ name: String) -> PeerInfo {
    PeerInfo(id: PeerID(high: 0, low: 0), name: name, application: application)
  }

  /// Returns `name`, or the host's name without its domain if it is nil. Throws if it is not a
  /// valid display name.
  static func displayName(_ name: String?) throws(CommandFailure) -> String {
    let host = HostName.current.split(separator: ".").first.map(String.init) ?? "unnamed"
    return try CommandFailure.displayName(name ?? host)
  }

  /// Reads a code that a person has typed.
  static func code(_ text: String) throws(CommandFailure) -> JoinCode {
    do throws(JoinCodeError) {
      return try JoinCode(text)
    } catch {
      throw CommandFailure(.usage, "'\(text)' is not a code such as K7QM-2XRT")
    }
  }
}
