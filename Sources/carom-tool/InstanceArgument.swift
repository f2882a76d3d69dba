import CaromDNS
import CaromDiscovery

/// The name of a service as it is written on the command line.
enum InstanceArgument {
  /// Returns the full name of a service.
  static func fullName(_ name: String, _ type: ServiceType, _ domain: Name) throws -> Name {
    do throws(InstanceNameError) {
      try InstanceName.validate(name)
    } catch {
      switch error {
      case .empty: throw DiscoveryError.nameMissing
      case .tooLong(let count): throw DiscoveryError.nameTooLong(count)
      case .controlCharacter: throw DiscoveryError.nameInvalid
      }
    }
    return try BrowseTarget.services(type, domain: domain).name().prefixed(by: name)
  }

  /// Returns the name of a service without its type and domain.
  static func text(of fullName: Name) -> String {
    fullName.labels.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
