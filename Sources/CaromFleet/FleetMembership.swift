import CaromCore
import CaromCrypto
import CaromPlacement
import CaromTransport

/// The part of a host in its fleet: the host registers, renews its lease, takes seats for the
/// players who join, and sends the checkpoints of its matches.
///
/// A membership begins with `join` and ends with `withdraw`, or when the directory does not let the
/// host in. While the directory is away, the host connects again and again, and its matches go
/// on.
package actor FleetMembership: LoopActor {
  package enum Event: Hashable, Sendable {
    /// The directory cannot be reached, for this reason. Told once, until it is back.
    case away(RedisError)
    /// The directory can be reached again, and knows the host.
    case back
    /// What the rules of the fleet ask of the host.
    case host(FleetHost.Event)
  }

  package nonisolated let loop: NetworkLoop
  package nonisolated let address: FleetAddress
  package nonisolated let record: HostRecord
  /// What happens, for one reader, which must read on: nothing is dropped. The sequence ends when
  /// the host has left the fleet.
  package nonisolated let events: AsyncStream<Event>
  private let happened: AsyncStream<Event>.Continuation
  private var machine: FleetHost
  /// The number of the connection that the machine uses, and the connection once it is open.
  private var number: UInt64 = 0
  private(set) var connection: RedisConnection?
  /// What waits for the connection to open.
  private var requests = Deque<FleetHost.Request>()
  private var attempt: Task<Void, Never>?
  private var delay = ReconnectDelay()
  var generator: LoopGenerator
  private var timer: LoopTimer?
  /// Why the directory cannot be reached; nil if it can.
  private(set) var absence: RedisError?
  private var hasLeft = false
  private var leavers: [CheckedContinuation<Void, Never>] = []

  /// Creates the membership of a host that has these keys of the fleet's backend, 1 to 4, and makes
  /// tokens with the first of them.
  package init(
    of record: HostRecord, in address: FleetAddress, keys: [BackendKey], on loop: NetworkLoop
  ) {
    self.loop = loop
    self.address = address
    self.record = record
    var generator = LoopGenerator(of: loop)
    machine = FleetHost(
      record, keys: HostKeys(keys.map(\.fingerprint)), run: generator.next(), at: loop.now)
    self.generator = generator
    (events, happened) = AsyncStream.makeStream()
  }

  /// Registers the host, and keeps it registered.
  package func join() {
    guard timer == nil else { return }
    timer = LoopTimer(on: loop, owner: self) { membership in
      membership.change { $0.handleTimeout(at: $1) }
    }
    change { $0.handleTimeout(at: $1) }
  }

  /// Leaves the fleet, and returns when the directory knows of it, or after 3 seconds if it does
  /// not answer. Matches that the host still has are orphans from then on.
  package func withdraw() async {
    change { $0.withdraw(at: $1) }
    guard !hasLeft else { return }
    await withCheckedContinuation { leavers.append($0) }
  }

  /// Calls the machine, and does what it asks for.
  func change<Result>(_ body: (inout FleetHost, Instant) -> Result) -> Result {
    defer { flush() }
    return body(&machine, loop.now)
  }

  private func flush() {
    while let request = machine.pollRequest() {
      if request.connection != number { open(request.connection) }
      if let connection { send(request, on: connection) } else { requests.append(request) }
    }
    while let event = machine.pollEvent() { report(event) }
    guard !hasLeft else { return }
    if let timeout = machine.nextTimeout { timer?.arm(at: timeout) } else { timer?.cancel() }
  }

  private func report(_ event: FleetHost.Event) {
    switch event {
    case .registered, .refused:
      // The directory has answered, whatever it has said.
      delay.reset()
      if absence != nil { happened.yield(.back) }
      absence = nil
    default: break
    }
    happened.yield(.host(event))
    switch event {
    case .withdrawn, .gaveUp: leave()
    default: break
    }
  }

  private func leave() {
    hasLeft = true
    timer?.cancel()
    disconnect()
    happened.finish()
    for leaver in leavers { leaver.resume() }
    leavers = []
  }

  private func send(_ request: FleetHost.Request, on connection: RedisConnection) {
    let number = request.connection
    connection.assumeIsolated {
      $0.send(request.command, fleet: address.fleet) { [weak self] result in
        self?.assumeIsolated { $0.handle(result, on: number) }
      }
    }
  }

  /// Takes an answer on the open connection. A connection that was closed here has nothing to say.
  private func handle(_ result: Result<DirectoryAnswer, RedisError>, on number: UInt64) {
    guard number == self.number, connection != nil else { return }
    switch result {
    case .success(let answer): change { $0.handle(answer, on: number, at: $1) }
    case .failure(let error): lose(number, error)
    }
  }

  /// Closes the connection, and opens the one with this number.
  private func open(_ number: UInt64) {
    // The machine gives a connection up when an answer does not come.
    let isWaiting = connection?.assumeIsolated { $0.isWaiting } ?? (attempt != nil)
    // A server without TLS need not answer the first message of a handshake.
    let isInHandshake = connection == nil && address.isEncrypted
    disconnect()
    if isWaiting { noteAbsence(isInHandshake ? .tls(.unanswered) : .timedOut) }
    self.number = number
    attempt = Task {
      do throws(RedisError) {
        didConnect(try await RedisConnection.open(address, on: loop), number)
      } catch {
        lose(number, error)
      }
    }
  }

  private func didConnect(_ connection: RedisConnection, _ number: UInt64) {
    guard number == self.number, !hasLeft else { return connection.assumeIsolated { $0.close() } }
    attempt = nil
    self.connection = connection
    connection.assumeIsolated {
      $0.setFailureHandler { [weak self] error in
        self?.assumeIsolated { $0.handle(.failure(error), on: number) }
      }
    }
    while let request = requests.popFirst() { send(request, on: connection) }
  }

  /// Tells the machine that the connection with this number has failed, or could not be opened.
  private func lose(_ number: UInt64, _ error: RedisError) {
    guard number == self.number, !hasLeft else { return }
    disconnect()
    noteAbsence(error)
    let delay = delay.next(using: &generator)
    change { $0.handleDisconnect(of: number, retryAfter: delay, at: $1) }
  }

  private func noteAbsence(_ error: RedisError) {
    if absence == nil { happened.yield(.away(error)) }
    absence = absence ?? error
  }

  private func disconnect() {
    attempt?.cancel()
    attempt = nil
    requests.removeAll()
    let connection = connection.take()
    connection?.assumeIsolated { $0.close() }
  }
}
