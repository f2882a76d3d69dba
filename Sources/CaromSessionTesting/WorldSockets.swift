import CaromCore
import CaromTesting
import CaromTransport

/// A datagram socket, bound to one address. Sockets of one host that are bound to different
/// addresses and the same port share a socket of the virtual network.
final class WorldDatagramPort: VirtualDatagramPort {
  let local: Endpoint
  let receive: (Datagram) -> Void
  private let socket: VirtualSocket
  private let driver: WorldDriver

  init(
    _ socket: VirtualSocket, local: Endpoint, driver: WorldDriver,
    _ receive: @escaping (Datagram) -> Void
  ) {
    self.socket = socket
    self.local = local
    self.driver = driver
    self.receive = receive
  }

  /// Whether the socket receives datagrams that were sent to `address`.
  func accepts(_ address: IPAddress) -> Bool {
    guard address.isV6 == local.address.isV6 else { return false }
    return isWildcard(local.address) || address.scoped(to: 0) == local.address.scoped(to: 0)
  }

  /// Returns whether a socket on the same port cannot be bound to `other` while this socket is
  /// bound.
  func conflicts(with other: Endpoint) -> Bool {
    accepts(other.address)
      || isWildcard(other.address) && other.address.isV6 == local.address.isV6
  }

  private func isWildcard(_ address: IPAddress) -> Bool { address == .any4 || address == .any6 }

  func send(_ payload: [UInt8], to peer: Endpoint) {
    driver.network.send(payload, from: socket, to: peer)
  }

  func close() {
    driver.datagramPorts[socket]?.removeAll { $0 === self }
    guard driver.datagramPorts[socket]?.isEmpty == true else { return }
    driver.datagramPorts[socket] = nil
    driver.sockets[PortKey(machine: driver.network[socket.host].machine, port: local.port)] = nil
    driver.network.close(socket)
  }
}

/// A listener for streams over one of the address families. The two listeners of one port share a
/// listener of the virtual network.
final class WorldListener: VirtualPort {
  let host: VirtualHost
  let local: Endpoint
  let accept: (any VirtualStreamEnd) -> Void
  private let driver: WorldDriver

  init(
    _ host: VirtualHost, local: Endpoint, driver: WorldDriver,
    _ accept: @escaping (any VirtualStreamEnd) -> Void
  ) {
    self.host = host
    self.local = local
    self.driver = driver
    self.accept = accept
  }

  func close() {
    let key = PortKey(machine: host.machine, port: local.port)
    driver.listeners[key]?.removeAll { $0 === self }
    guard driver.listeners[key]?.isEmpty == true else { return }
    driver.listeners[key] = nil
    driver.network.stopListening(host, port: local.port)
  }
}

/// An attempt to open a stream.
final class WorldAttempt: VirtualPort {
  let local: Endpoint
  let finish: (Result<any VirtualStreamEnd, TransportError>) -> Void
  private let stream: VirtualStream
  private let driver: WorldDriver

  init(
    _ stream: VirtualStream, local: Endpoint, driver: WorldDriver,
    _ finish: @escaping (Result<any VirtualStreamEnd, TransportError>) -> Void
  ) {
    self.stream = stream
    self.local = local
    self.driver = driver
    self.finish = finish
  }

  func close() {
    guard driver.attempts.removeValue(forKey: stream) != nil else { return }
    driver.network.reset(stream)
  }
}

/// One end of a stream of the virtual network.
///
/// Unchecked: it is used only on the thread of its world.
final class WorldStreamEnd: VirtualStreamEnd, @unchecked Sendable {
  let local: Endpoint
  let peer: Endpoint
  private let stream: VirtualStream
  private let driver: WorldDriver
  private var handler: ((VirtualStreamEvent) -> Void)?
  private var isReading = false
  /// The bytes that have arrived while nobody was reading, and the end of the stream if it has
  /// arrived.
  private var unread = Deque<VirtualStreamEvent>()

  init(_ stream: VirtualStream, local: Endpoint, peer: Endpoint, driver: WorldDriver) {
    self.stream = stream
    self.local = local
    self.peer = peer
    self.driver = driver
  }

  var queuedBytes: Int { driver.network.unsentBytes(of: stream) }

  func setHandler(_ handler: @escaping (VirtualStreamEvent) -> Void) { self.handler = handler }

  func receive(_ event: VirtualStreamEvent) {
    switch event {
    case .bytes, .end:
      unread.append(event)
      deliver()
    case .sent, .reset: handler?(event)
    }
  }

  private func deliver() {
    while isReading, let event = unread.popFirst() { handler?(event) }
  }

  func setReading(_ isOn: Bool) {
    isReading = isOn
    if isOn, !unread.isEmpty { driver.enqueue { self.deliver() } }
  }

  func write(_ bytes: [UInt8]) -> Bool {
    guard driver.network.write(bytes, to: stream) else { return false }
    if queuedBytes > 0 { driver.network.notifyWhenDrained(stream) }
    return true
  }

  func finish() { driver.network.finish(stream) }

  func destroy(reset: Bool) {
    driver.ends[stream] = nil
    handler = nil
    isReading = false
    if reset { driver.network.reset(stream) } else { driver.network.close(stream) }
  }
}
