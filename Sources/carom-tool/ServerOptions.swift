import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// The name servers to query for names outside the link.
struct ServerOptions: ParsableArguments {
  @Option(
    help: """
      A name server to query instead of the system's: ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT; may \
      be repeated.
      """)
  var server: [String] = []

  /// How long to wait for an answer before a warning is printed.
  private static let warningDelay = Duration.seconds(3)

  /// Makes this process use the name servers given as options, if any, and `domains` as its search
  /// domains unless `domains` is empty.
  func apply(domains: [Name] = []) throws {
    var configuration = UnicastConfiguration.system()
    if !server.isEmpty { configuration.servers = try server.map(Self.endpoint) }
    if !domains.isEmpty { configuration.domains = domains }
    UnicastConfiguration.use(configuration)
  }

  /// Prints a warning if no name server answers a query that a command repeats forever, since the
  /// command would show nothing otherwise. Waits until a server has answered or the query has
  /// failed.
  func warnIfUnanswered(of key: RecordKey) async {
    guard !key.name.isLinkLocal,
      let loop = try? NetworkLoop(name: "carom-servers")
    else { return }
    do throws(UnicastError) {
      _ = try await UnicastClient(on: loop).ask(
        key.name, key.type, of: UnicastConfiguration.current.servers, within: Self.warningDelay)
    } catch {
      switch error {
      case .timedOut, .unreachable, .refused, .serverFailure:
        CaromCommand.printError("\(error); the query is repeated at growing intervals")
      case .nameError, .multicastName, .noServers, .tooManyQueries, .cancelled, .closed: break
      }
    }
    await loop.shutdown()
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
