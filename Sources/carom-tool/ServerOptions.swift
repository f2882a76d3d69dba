import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery

/// Which name servers are asked for names that do not belong to the link.
struct ServerOptions: ParsableArguments {
  @Option(
    help: "Ask this name server: ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT; may be repeated.")
  var server: [String] = []

  /// Has this process ask the servers of the options, and in these domains if there are some.
  func apply(domains: [Name] = []) throws {
    var configuration = UnicastConfiguration.system()
    if !server.isEmpty { configuration.servers = try server.map(Self.endpoint) }
    if !domains.isEmpty { configuration.domains = domains }
    UnicastConfiguration.use(configuration)
  }

  /// A server's address as people write it.
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
    throw CommandFailure(.usage, "--server wants ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT")
  }
}
