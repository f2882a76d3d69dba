import CaromCore

/// A network in memory, with a time of its own, where everything follows from one seed.
///
/// Hosts bind sockets, join groups, listen and connect; what they send comes out of `nextEvent` at
/// its time, late, lost, doubled or cut into pieces as `LinkConditions` say. The network is a
/// value: a copy of it goes on from the same point, and the same calls on it give the same events.
public struct VirtualNetwork: Sendable {
  /// What is on its way.
  enum Arrival: Sendable {
    case datagram(Datagram, from: Int, to: VirtualSocket)
    case call(stream: Int, attempt: Int)
    case refusal(stream: Int)
    case piece(stream: Int, toward: VirtualStream.Side)
  }

  /// A computer with a cable.
  struct Machine: Sendable {
    let interfaces: [VirtualHost.Interface]
    var isCut = false
    var isCrashed = false
    var sockets: [Int] = []
    var listeners: [(port: UInt16, host: VirtualHost.ID)] = []
    var nextPort: UInt16 = 49_152
  }

  /// The ways from one machine to another that have conditions of their own.
  struct Way: Hashable, Sendable {
    let from: Int
    let to: Int
  }

  /// The time now: that of the last event, or what `advance(to:)` set.
  public private(set) var now = Instant.zero
  /// What every way does that has no conditions of its own.
  public var conditions: LinkConditions { didSet { resumeStreams() } }
  /// Every host, by id.
  public private(set) var hosts: [VirtualHost] = []
  /// What became of everything that was sent.
  public internal(set) var counters = NetworkCounters()
  /// The story so far; `nil`, as at the beginning, writes none.
  public var trace: Trace?

  var timeline = Timeline<Arrival>()
  var generator: SeededGenerator
  var machines: [Machine] = []
  var sockets: [SocketState] = []
  var streams: [StreamState] = []
  private var ways: [Way: LinkConditions] = [:]

  /// An empty network; every draw follows from `seed`.
  public init(seed: UInt64, conditions: LinkConditions = .lan) {
    generator = SeededGenerator(seed: seed)
    self.conditions = conditions
  }

  // MARK: Hosts

  /// A new machine with a network card on each of the segments, and one process on it.
  public mutating func addHost(on segments: [Int] = [0]) -> VirtualHost {
    precondition(!segments.isEmpty, "a host needs a segment to be on")
    let number = UInt64(machines.count + 1)
    precondition(number < 1 << 16, "addresses end at 65,535 machines")
    let interfaces = segments.enumerated().map { position, segment in
      precondition((0..<256).contains(segment), "a segment is 0 to 255")
      let index = UInt32(position + 2)
      return VirtualHost.Interface(
        index: index, segment: segment,
        v4: .v4(10 << 24 | UInt32(segment) << 16 | UInt32(number)),
        v6: .v6(high: 0xFE80 << 48, low: UInt64(segment) << 32 | number, scope: index))
    }
    machines.append(Machine(interfaces: interfaces))
    return addHost(machine: machines.count - 1)
  }

  /// One more process on a machine that is there: the same addresses, sockets of its own.
  public mutating func addHost(beside other: VirtualHost) -> VirtualHost {
    addHost(machine: other.machine)
  }

  private mutating func addHost(machine: Int) -> VirtualHost {
    let host = VirtualHost(
      id: .init(number: hosts.count), machine: machine, interfaces: machines[machine].interfaces)
    hosts.append(host)
    return host
  }

  /// The host of that id.
  public subscript(id: VirtualHost.ID) -> VirtualHost { hosts[id.number] }

  func machine(of host: VirtualHost.ID) -> Int { hosts[host.number].machine }

  // MARK: Conditions

  /// Gives the way from one machine to another conditions of its own, one direction.
  public mutating func setConditions(
    _ conditions: LinkConditions?, from: VirtualHost, to: VirtualHost
  ) {
    ways[Way(from: from.machine, to: to.machine)] = conditions
    resumeStreams()
  }

  /// What the way between two machines does; inside one nothing is late or lost.
  func conditions(from: Int, to: Int) -> LinkConditions {
    from == to ? Self.loopback : ways[Way(from: from, to: to)] ?? conditions
  }

  private static let loopback = LinkConditions(
    delay: .microseconds(10) ... .microseconds(30), pieceLength: 1...16_384)

  /// Whether anything passes from one machine to another now.
  func isCut(from: Int, to: Int) -> Bool {
    if from == to { return machines[from].isCrashed }
    return machines[from].isCut || machines[to].isCut || machines[from].isCrashed
      || machines[to].isCrashed || conditions(from: from, to: to).isCut
  }

  // MARK: Time

  /// No event comes before it; `nil` when nothing is on its way.
  public var nextEventTime: Instant? { timeline.firstTime }

  /// The next event up to and including `limit`, and time moves to it; with none, `nil`, and time
  /// stays where the last arrival left it.
  public mutating func nextEvent(notAfter limit: Instant = .distantFuture) -> VirtualEvent? {
    while let (time, arrival) = timeline.next(notAfter: limit) {
      now = max(now, time)
      guard let event = arrive(arrival) else { continue }
      note("\(event)")
      return event
    }
    return nil
  }

  /// Moves time on; everything before `time` has to be fetched with `nextEvent` first.
  public mutating func advance(to time: Instant) {
    precondition(time >= now, "time goes forward")
    precondition(nextEventTime.map { $0 >= time } ?? true, "events before that time are waiting")
    now = time
  }

  private mutating func arrive(_ arrival: Arrival) -> VirtualEvent? {
    switch arrival {
    case .datagram(let datagram, let machine, let socket):
      arriveDatagram(datagram, from: machine, on: socket)
    case .call(let stream, let attempt): arriveCall(stream, attempt: attempt)
    case .refusal(let stream): arriveRefusal(stream)
    case .piece(let stream, let side): arrivePiece(stream, toward: side)
    }
  }

  /// Writes a line into the trace, if there is one.
  mutating func note(_ text: @autoclosure () -> String) {
    guard trace != nil else { return }
    let line = text()
    trace?.append(line, at: now)
  }
}
