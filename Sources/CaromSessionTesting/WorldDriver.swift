import CaromCore
import CaromTesting
import CaromTransport

/// Runs the work, the timers and the arrivals of a `SessionWorld` on one thread, in virtual time.
///
/// Unchecked: the queue and the clock are locked, and everything else is used only on the thread.
final class WorldDriver: @unchecked Sendable {
  private struct Queue: Sendable {
    var work: [@Sendable () -> Void] = []
    /// Whether `run` is running, or has been posted to the thread.
    var isScheduled = false
  }

  /// The number of rounds after which `run` lets the thread do its other work.
  private static let roundLimit = 4096

  let thread: NetworkLoop
  private let queue = Locked(Queue())
  private let clock = Locked(Instant.zero)

  var network: VirtualNetwork
  var generator: SeededGenerator
  /// Whether time advances.
  var isRunning = false
  private var loops: [NetworkLoop] = []

  var sockets: [PortKey: VirtualSocket] = [:]
  var datagramPorts: [VirtualSocket: [WorldDatagramPort]] = [:]
  var listeners: [PortKey: [WorldListener]] = [:]
  var attempts: [VirtualStream: WorldAttempt] = [:]
  var ends: [VirtualStream: WorldStreamEnd] = [:]

  init(_ network: VirtualNetwork, seed: UInt64, on thread: NetworkLoop) {
    self.network = network
    self.thread = thread
    var root = SeededGenerator(seed: seed)
    generator = root.split()
  }

  var now: Instant { clock.withLock { $0 } }

  /// Creates a loop with the sockets of `host`, or one without sockets.
  func makeLoop(name: String, host: VirtualHost?) -> NetworkLoop {
    let loop = NetworkLoop(name: name, system: WorldHost(host, driver: self))
    loops.append(loop)
    return loop
  }

  /// Runs `work` after the work that was enqueued before it. Can be called on any thread.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    let isFirst = queue.withLock { queue in
      queue.work.append(work)
      defer { queue.isScheduled = true }
      return !queue.isScheduled
    }
    if isFirst { thread.post { self.run() } }
  }

  /// Runs all queued work. Whenever no work is left, advances the time. Returns when nothing is due
  /// any longer, or after `roundLimit` rounds; the thread then calls it again.
  private func run() {
    for _ in 0..<Self.roundLimit {
      let work = queue.withLock { queue in
        defer { queue.work = [] }
        return queue.work
      }
      for item in work { item() }
      if work.isEmpty, !advance(), isDone() { return }
    }
    thread.post { self.run() }
  }

  private func isDone() -> Bool {
    queue.withLock { queue in
      queue.isScheduled = !queue.work.isEmpty
      return !queue.isScheduled
    }
  }

  /// Advances the time to the next event or timeout and handles it. Events are handled before
  /// timeouts that are due at the same time, and those timeouts in the order of the loops. Returns
  /// false if time stands still.
  private func advance() -> Bool {
    guard isRunning else { return false }
    let deadline = loops.reduce(nil) { earliest($0, $1.nextTimeout) }
    guard let next = earliest(deadline, network.nextEventTime) else { return false }
    let time = max(next, network.now)
    if let event = network.nextEvent(notAfter: time) {
      clock.withLock { $0 = network.now }
      handle(event)
      return true
    }
    network.advance(to: time)
    clock.withLock { $0 = time }
    for loop in loops { if let timeout = loop.nextTimeout, timeout <= time { loop.fireTimers() } }
    return true
  }

  /// Closes all loops and the thread, and waits until that has happened.
  func shutDown() async {
    let loops = await thread.run { self.takeLoops() }
    for loop in loops { await loop.shutdown() }
    await thread.run { self.releaseSockets() }
    await thread.shutdown()
  }

  private func takeLoops() -> [NetworkLoop] {
    defer { loops = [] }
    return loops
  }

  private func releaseSockets() {
    (sockets, datagramPorts, listeners, attempts, ends) = ([:], [:], [:], [:], [:])
  }

  private func handle(_ event: VirtualEvent) {
    switch event {
    case .datagram(let datagram, let socket):
      let port = datagramPorts[socket]?.first { $0.accepts(datagram.destination.address) }
      port?.receive(datagram)
    case .accepted(let stream, let source, let port): accept(stream, from: source, on: port)
    case .connected(let stream):
      attempts.removeValue(forKey: stream)?.finish(.success(makeEnd(stream)))
    case .refused(let stream):
      attempts.removeValue(forKey: stream)?.finish(.failure(.connectionRefused))
    case .timedOut(let stream): attempts.removeValue(forKey: stream)?.finish(.failure(.timedOut))
    case .bytes(let bytes, let stream): ends[stream]?.receive(.bytes(bytes))
    case .end(let stream): ends[stream]?.receive(.end)
    case .reset(let stream): ends[stream]?.receive(.reset)
    case .drained(let stream): ends[stream]?.receive(.sent)
    }
  }

  private func accept(_ stream: VirtualStream, from source: Endpoint, on port: UInt16) {
    let key = PortKey(machine: network[stream.host].machine, port: port)
    let listener = listeners[key]?.first { $0.local.address.isV6 == source.address.isV6 }
    guard let listener else { return network.reset(stream) }
    listener.accept(makeEnd(stream))
  }

  private func makeEnd(_ stream: VirtualStream) -> WorldStreamEnd {
    let (local, peer) = network.endpoints(of: stream)
    let end = WorldStreamEnd(stream, local: local, peer: peer, driver: self)
    ends[stream] = end
    return end
  }
}

/// Identifies the sockets or listeners that share a port of a machine.
struct PortKey: Hashable, Sendable {
  let machine: Int
  let port: UInt16
}
