import CaromCore
@_exported import CaromDNS
import CaromTransport

/// A service that this host offers: what `ServiceAdvertiser` makes visible.
public struct AdvertisedService: Hashable, Sendable {
  /// What people see: at most 63 bytes of UTF-8, any characters but control characters.
  /// Without any, the service takes the host's name.
  public var name: String
  /// What it speaks: "_airhockey._tcp".
  public var type: ServiceType
  /// Where it listens, on every address of this host; listen first, then advertise.
  public var port: UInt16
  /// The strings beside it.
  public var txt: TXTRecord
  /// Narrower types that it is also found under (RFC 6763 §7.1), such as "_ranked".
  public var subtypes: [String]
  /// Whether "X" becomes "X (2)" where the name is taken; otherwise that is an error.
  public var renamesOnConflict: Bool
  /// Whether nobody else can have the name, such as one that `uniqueName` made: it is visible at
  /// once, without the second that asking for it takes.
  public var isNameUnique: Bool

  /// A service on `port`.
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

  /// A name that nobody else has: the given one, shortened where it is long, and 64 random bits.
  public static func uniqueName(_ name: String) -> String {
    let bits = String(UInt64.random(in: .min ... .max), radix: 16)
    let suffix = " " + String(repeating: "0", count: 16 - bits.count) + bits
    var name = name
    while name.utf8.count + suffix.utf8.count > 63 { name.removeLast() }
    return name + suffix
  }

  /// Throws what cannot be advertised.
  public func validate() throws(DiscoveryError) {
    do throws(PublicationError) { try registration.validate() } catch {
      throw DiscoveryError(error)
    }
    guard port != 0 else { throw .portMissing }
  }

  /// The name to claim: its own, else the host's.
  var publishedName: String {
    name.isEmpty ? HostLabel.systemName(from: HostName.current) : name
  }

  var registration: Registration {
    Registration(
      instance: publishedName, type: type, port: port, text: txt, subtypes: subtypes,
      renames: renamesOnConflict, isUnique: isNameUnique)
  }
}
