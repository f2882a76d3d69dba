import CaromCore
import CaromCrypto
import CaromPlacement
import CaromTransport

extension AgonesSidecar {
  /// Returns the endpoints at which players reach this game server from outside of its pod, 1 to 6,
  /// as Agones tells them in the status of the `GameServer`. A host of a fleet advertises them:
  /// `FleetSettings.init(_:key:as:game:advertising:routing:region:takesOneMatch:)`.
  ///
  /// The sidecar may start after the server, and know the address later still, so this asks again
  /// until it is known or `limit` has passed.
  ///
  /// - Parameters:
  ///   - name: The name of the port in the manifest; nil for the first one. For a port with the
  ///     protocol TCPUDP, Agones adds "-tcp" and "-udp" to the name.
  ///   - limit: How long to wait.
  ///   - loop: The loop of the connections to the sidecar.
  public func findEndpoints(
    ofPort name: String? = nil, within limit: Duration = .seconds(30), on loop: NetworkLoop
  ) async throws(AgonesEndpointError) -> [Endpoint] {
    let deadline = loop.now + limit
    var (delay, generator) = (ReconnectDelay(), LoopGenerator(of: loop))
    while true {
      let failure: AgonesEndpointError
      switch await status(on: loop) {
      case .success(let status):
        if !status.address.isEmpty, let port = try Self.choosePort(name, of: status) {
          return try await Self.endpoints(at: status.address, port: port, on: loop)
        }
        failure = .noAddress
      case .failure(let error): failure = .sidecar(error)
      }
      let next = loop.now + delay.next(using: &generator)
      guard next < deadline else { throw failure }
      do throws(TransportError) {
        try await loop.sleep(until: next)
      } catch { throw .sidecar(.transport(error)) }
    }
  }

  private func status(on loop: NetworkLoop) async -> Result<AgonesStatus, AgonesError> {
    let result = await HTTPExchange(on: loop).perform(
      AgonesRequest.status.encoded(to: port), to: endpoints, within: AgonesReporter.responseLimit)
    switch result {
    case .success(let response) where !(200..<300).contains(response.status):
      return .failure(.status(response.status))
    case .success(let response):
      return AgonesStatus(json: response.content).map { .success($0) } ?? .failure(.malformed)
    case .failure(let failure): return .failure(failure.error)
    }
  }

  /// Returns the port of this name, or the first one; nil if the server has none yet.
  private static func choosePort(
    _ name: String?, of status: AgonesStatus
  ) throws(AgonesEndpointError) -> UInt16? {
    guard let name, !status.ports.isEmpty else { return status.ports.first?.number }
    guard let port = status.ports.first(where: { $0.name == name }) else {
      throw .noSuchPort(name)
    }
    return port.number
  }

  private static func endpoints(
    at host: String, port: UInt16, on loop: NetworkLoop
  ) async throws(AgonesEndpointError) -> [Endpoint] {
    let addresses: [IPAddress]
    do throws(TransportError) {
      addresses = try await loop.lookup(host: host)
    } catch { throw .unknownHost(host, error) }
    let endpoints = addresses.map { Endpoint($0, port: port) }.filter(ConnectToken.isUsable)
    guard !endpoints.isEmpty else { throw .unusableAddress(host) }
    return Array(endpoints.prefix(ConnectToken.hostLimit))
  }
}
