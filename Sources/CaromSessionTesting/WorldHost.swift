import CaromCore
import CaromTesting
import CaromTransport

/// The simulated system of one host: its clock, and its sockets on the virtual network.
final class WorldHost: VirtualSystem {
  /// The host; nil for the loop of a world's tasks, which has no sockets.
  private let host: VirtualHost?
  private let driver: WorldDriver

  init(_ host: VirtualHost?, driver: WorldDriver) {
    self.host = host
    self.driver = driver
  }

  var thread: NetworkLoop { driver.thread }
  var now: Instant { driver.now }

  func enqueue(_ work: @escaping @Sendable () -> Void) { driver.enqueue(work) }

  func random() -> UInt64 {
    thread.preconditionCurrent("the random numbers of a world")
    return driver.generator.next()
  }

  func bind(
    _ local: Endpoint, _ receive: @escaping (Datagram) -> Void
  ) throws(TransportError) -> any VirtualDatagramPort {
    let host = try checkedHost(local)
    let key = PortKey(machine: host.machine, port: local.port)
    let known = local.port == 0 ? nil : driver.sockets[key]
    if let known {
      let ports = driver.datagramPorts[known, default: []]
      guard known.host == host.id, !ports.contains(where: { $0.conflicts(with: local) }) else {
        throw .addressInUse(port: local.port)
      }
    }
    let socket = known ?? driver.network.bind(host, port: local.port)
    let bound = Endpoint(local.address, port: driver.network.port(of: socket))
    driver.sockets[PortKey(machine: host.machine, port: bound.port)] = socket
    let port = WorldDatagramPort(socket, local: bound, driver: driver, receive)
    driver.datagramPorts[socket, default: []].append(port)
    return port
  }

  func listen(
    on local: Endpoint, _ accept: @escaping (any VirtualStreamEnd) -> Void
  ) throws(TransportError) -> any VirtualPort {
    let host = try checkedHost(local)
    let key = PortKey(machine: host.machine, port: local.port)
    let known = driver.listeners[key, default: []]
    guard
      known.allSatisfy({ $0.host == host && $0.local.address.isV6 != local.address.isV6 })
    else { throw .addressInUse(port: local.port) }
    var port = local.port
    if known.isEmpty {
      guard let free = driver.network.listen(host, port: port) else {
        throw .addressInUse(port: port)
      }
      port = free
    }
    let listener = WorldListener(
      host, local: Endpoint(local.address, port: port), driver: driver, accept)
    driver.listeners[PortKey(machine: host.machine, port: port), default: []].append(listener)
    return listener
  }

  func connect(
    to peer: Endpoint, _ finish: @escaping (Result<any VirtualStreamEnd, TransportError>) -> Void
  ) throws(TransportError) -> any VirtualPort {
    guard let host else { throw .unreachable }
    let stream = driver.network.connect(from: host, to: peer)
    let attempt = WorldAttempt(
      stream, local: driver.network.endpoints(of: stream).local, driver: driver, finish)
    driver.attempts[stream] = attempt
    return attempt
  }

  /// Returns the host. Throws an error if the host does not have the address.
  private func checkedHost(_ local: Endpoint) throws(TransportError) -> VirtualHost {
    guard let host else { throw .addressNotAvailable(local.address) }
    let address = local.address
    let isOwn = host.interfaces.contains { $0.v4 == address || $0.v6 == address }
    guard address == .any4 || address == .any6 || address.isLoopback || isOwn else {
      throw .addressNotAvailable(address)
    }
    return host
  }
}
