import ArgumentParser
import CaromCrypto
import CaromDNS
import CaromDiscovery
import CaromTransport

/// The options of a command that changes the zone of a domain.
struct RegistrationOptions: ParsableArguments {
  @Option(
    help: """
      The domain, such as play.example.com; by default the one that is recommended for registering \
      services.
      """)
  var domain: String?
  @Option(
    help: """
      The file with the key of the domain's zone, as tsig-keygen writes it. Without it, services \
      are published on the link.
      """)
  var key: String?
  @OptionGroup var servers: ServerOptions

  /// Reads the key, makes this process use the name servers given as options, and returns the
  /// domain. `qualified` is the domain of a type, if it has one. Returns nil if no key is given.
  func registrationDomain(
    _ qualified: Name? = nil, lease: Duration = RegistrationDomain.defaultLease
  ) throws -> RegistrationDomain? {
    let name =
      domain == nil && qualified == nil ? nil : try TypeArgument.domain([domain], qualified)
    guard let key else { return nil }
    guard name?.isLinkLocal != true else {
      throw CommandFailure(.badName, "the link needs no key: leave out --key, or name a domain")
    }
    try servers.apply()
    return RegistrationDomain(
      name?.description, key: try Self.key(in: key),
      server: servers.server.isEmpty ? nil : UnicastConfiguration.current.servers.first,
      lease: lease)
  }

  private static func key(in path: String) throws(CommandFailure) -> UpdateKey {
    do throws(KeyFileError) {
      return try UpdateKey(contentsOf: path, authenticator: HMACSHA256.authenticator)
    } catch {
      throw CommandFailure(error == .unreadable ? .ioFailed : .usage, "\(path): \(error)")
    }
  }
}
