import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// Which name servers are asked for names that do not belong to the link.
struct ServerOptions: ParsableArguments {
  @Option(
    help: "Ask this name server: ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT; may be repeated.")
  var server: [String] = []

  /// How long a server may be silent until that is told.
  private static let patience = Duration.seconds(3)

  /// Has this process ask the servers of the options, and in these domains if there are some.
  func apply(domains: [Name] = []) throws {
    var configuration = UnicastConfiguration.system()
    if !server.isEmpty { configuration.servers = try server.map(Self.endpoint) }
    if !domains.isEmpty { configuration.domains = domains }
    UnicastConfiguration.use(configuration)
  }

  /// Tells where nobody answers a question that is asked again and again: its watcher would see
  /// nothing, and not why. Returns when a server has answered, or none will.
  func tellSilence(of key: RecordKey) async {
    guard !key.name.isLinkLocal,
      let loop = try? NetworkLoop(name: "carom-servers")
    else { return }
    do throws(UnicastError) {
      _ = try await UnicastClient(on: loop).ask(
        key.name, key.type, of: UnicastConfiguration.current.servers, within: Self.patience)
    } catch {
      switch error {
      case .timedOut, .unreachable, .refused, .serverFailure:
        CaromCommand.tell("\(error); it is asked again from time to time")
      case .nameError, .multicastName, .noServers, .tooManyQueries, .cancelled, .closed: break
      }
    }
    await loop.shutdown()
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
