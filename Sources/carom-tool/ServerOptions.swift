import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery

/// The name servers to query for names outside the link.
struct ServerOptions: ParsableArguments {
  @Option(
    help: """
      A name server to query instead of the system's: ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT; may \
      be repeated.
      """)
  var server: [String] = []

  /// Makes this process use the name servers given as options, if any, and `domains` as its search
  /// domains unless `domains` is empty.
  func apply(domains: [Name] = []) throws {
    var configuration = UnicastConfiguration.system()
    if !server.isEmpty { configuration.servers = try server.map(Self.endpoint) }
    if !domains.isEmpty { configuration.domains = domains }
    UnicastConfiguration.use(configuration)
  }

  /// Parses the address of a name server, with an optional port.
  private static func endpoint(_ text: String) throws(CommandFailure) -> Endpoint {
    if let address = IPAddress(text) {
      return Endpoint(address, port: UnicastConfiguration.port)
    }
    if let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
      port > 0
    {
      var host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      if let address = IPAddress(host) { return Endpoint(address, port: port) }
    }
    throw CommandFailure(.usage, "--server must be ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT")
  }
}
