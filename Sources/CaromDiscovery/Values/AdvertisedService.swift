import CaromCore
@_exported import CaromDNS
import CaromTransport

/// A service that this host offers, to be advertised by `ServiceAdvertiser`.
public struct AdvertisedService: Hashable, Sendable {
  /// The service's name as users see it: at most 63 bytes of UTF-8 without control characters. If
  /// it is empty, the service is given the host's name.
  public var name: String
  /// The service's type, such as "_airhockey._tcp".
  public var type: ServiceType
  /// The port on which the service listens, on every address of this host. Start listening before
  /// advertising.
  public var port: UInt16
  /// The key-value pairs that are published with the service.
  public var txt: TXTRecord
  /// The subtypes under which the service can also be found (RFC 6763 §7.1), such as "_ranked".
  public var subtypes: [String]
  /// Whether "X" is renamed to "X (2)" if the name is taken. If false, a taken name is an error.
  public var renamesOnConflict: Bool
  /// Whether the name is known to be unique, for instance because it comes from `uniqueName(_:)`.
  /// The service is then visible at once, without about a second of probing.
  public var isNameUnique: Bool

  /// Creates the description of a service that listens on `port`.
  public init(
    name: String, type: ServiceType, port: UInt16, txt: TXTRecord = [:], subtypes: [String] = [],
    renamesOnConflict: Bool = true, isNameUnique: Bool = false
  ) {
    self.name = name
    self.type = type
    self.port = port
    self.txt = txt
    self.subtypes = subtypes
    self.renamesOnConflict = renamesOnConflict
    self.isNameUnique = isNameUnique
  }

  /// Returns a unique name, made of `name`, shortened if necessary, and 64 random bits in
  /// hexadecimal.
  public static func uniqueName(_ name: String) -> String {
    let bits = String(UInt64.random(in: .min ... .max), radix: 16)
    let suffix = " " + String(repeating: "0", count: 16 - bits.count) + bits
    var name = name
    while name.utf8.count + suffix.utf8.count > 63 { name.removeLast() }
    return name + suffix
  }

  /// Throws an error if the service cannot be advertised.
  public func validate() throws(DiscoveryError) {
    do throws(PublicationError) { try registration.validate() } catch {
      throw DiscoveryError(error)
    }
    guard port != 0 else { throw .portMissing }
  }

  /// The name to claim: `name`, or the host's name if `name` is empty.
  var publishedName: String {
    name.isEmpty ? HostLabel.systemName(from: HostName.current) : name
  }

  var registration: Registration {
    Registration(
      instance: publishedName, type: type, port: port, text: txt, subtypes: subtypes,
      renames: renamesOnConflict, isUnique: isNameUnique)
  }
}
