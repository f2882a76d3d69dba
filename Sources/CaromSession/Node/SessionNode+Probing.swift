import CaromCore
import CaromProtocol
import CaromTransport

// Probing the UDP ports of a host while a connection opens, so that an attempt to connect to a port
// on which no program listens ends within a second. The sockets of a node send to many peers, and
// so get no reports about one of them.
extension SessionNode {
  /// The time between two probes of a port.
  private static let probeInterval = Duration.milliseconds(100)
  /// The number of probes that are sent to a port. Reports that no program listens have this many
  /// intervals to arrive.
  private static let probes = 20
  /// The maximum number of endpoints that are probed. If a host has more, none is probed. Each
  /// probed endpoint takes a file descriptor.
  private static let probedEndpoints = 8

  /// Begins to probe the endpoints to which a connection is being opened.
  func probePorts(of connection: ConnectionID) {
    guard let endpoints = dials[connection]?.endpoints,
      endpoints.count <= Self.probedEndpoints, !loop.isSimulated
    else { return }
    var probes: [PortProbe] = []
    for endpoint in endpoints {
      do throws(TransportError) {
        probes.append(try PortProbe(of: endpoint))
      } catch {
        // Without a route, the endpoint cannot be reached. Other errors say nothing about it.
        guard error == .unreachable else { return }
      }
    }
    guard !probes.isEmpty else { return }
    dials[connection]?.probes = probes
    dials[connection]?.probing = Task {
      let isRefused = await self.isRefused(connection)
      self.dials[connection]?.probes = []
      if isRefused { self.portRefused(of: connection) }
    }
  }

  private func isRefused(_ connection: ConnectionID) async -> Bool {
    for _ in 0..<Self.probes {
      guard dials[connection] != nil, !lobby.isOpen(connection) else { return false }
      if sendProbes(of: connection) { return true }
      do throws(TransportError) {
        try await loop.sleep(until: loop.now + Self.probeInterval)
      } catch { return false }
    }
    return false
  }

  /// Sends one datagram to each endpoint. Returns whether enough reports have arrived to conclude
  /// that no endpoint has a listener.
  private func sendProbes(of connection: ConnectionID) -> Bool {
    guard let probes = dials[connection]?.probes, !probes.isEmpty else { return false }
    for probe in probes { probe.send() }
    return probes.allSatisfy(\.isRefused)
  }

  private func portRefused(of connection: ConnectionID) {
    dials[connection]?.isPortRefused = true
    let hasStream = dials[connection]?.task != nil || sockets.streams[connection] != nil
    guard dials[connection] != nil, !lobby.isOpen(connection), !hasStream else { return }
    giveUp(connection)
  }

  /// Ends an attempt to connect to a host that listens neither for datagrams nor for streams.
  func giveUp(_ connection: ConnectionID) {
    let failure = dials[connection]?.failure ?? .connectionRefused
    dials[connection]?.failure = failure
    close(connection, Goodbye(.left))
    endAttempt(connection, failure)
  }
}
