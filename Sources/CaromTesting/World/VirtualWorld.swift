import CaromCore

/// A `VirtualNetwork` with nodes on its hosts. It runs until a given time, or until a condition is
/// met.
public struct VirtualWorld<Node: VirtualNode> {
  /// The default limit on the number of steps in one `run`.
  public static var defaultStepLimit: Int { 1_000_000 }

  /// The network. Tests can inject faults into it between runs.
  public var network: VirtualNetwork
  /// The nodes, indexed by the numbers of their hosts. The entry of a host without a node is nil.
  public private(set) var nodes: [Node?] = []
  /// The number of steps so far. A step handles one event, or all timeouts that are due.
  public private(set) var steps = 0
  /// The `nextTimeout` of each node, updated after each call to the node.
  private var deadlines = DeadlineTree()

  /// Creates a world without nodes on the given network.
  public init(network: VirtualNetwork) { self.network = network }

  /// Creates a world without nodes on a new network.
  public init(seed: UInt64, conditions: LinkConditions = .lan) {
    self.init(network: VirtualNetwork(seed: seed, conditions: conditions))
  }

  /// Adds a host on a new machine, creates its node with `make`, and starts the node. Returns the
  /// host.
  @discardableResult
  public mutating func add(
    on segments: [Int] = [0], _ make: (VirtualHost) throws -> Node
  ) rethrows -> VirtualHost {
    let host = network.addHost(on: segments)
    let node = try make(host)
    start(node, on: host)
    return host
  }

  /// Adds a host to the machine of another host, creates its node with `make`, and starts the node.
  /// Returns the host.
  @discardableResult
  public mutating func add(
    beside other: VirtualHost, _ make: (VirtualHost) throws -> Node
  ) rethrows -> VirtualHost {
    let host = network.addHost(beside: other)
    let node = try make(host)
    start(node, on: host)
    return host
  }

  /// Starts a node on a host that has no node: a host added directly to `network`, or one whose
  /// node was stopped.
  public mutating func start(_ node: Node, on host: VirtualHost) {
    while nodes.count <= host.id.number { nodes.append(nil) }
    precondition(nodes[host.id.number] == nil, "the host already has a node; stop that first")
    nodes[host.id.number] = node
    nodes[host.id.number]?.start(in: &network)
    updateDeadline(of: host.id.number)
  }

  private mutating func updateDeadline(of index: Int) {
    deadlines.set(nodes[index]?.nextTimeout, at: index)
  }

  /// Removes and returns the node of a host, or returns nil if the host has no node. The host's
  /// sockets and streams stay open; use the network's `kill` or `crash` to end them.
  @discardableResult
  public mutating func stop(_ host: VirtualHost) -> Node? {
    guard nodes.indices.contains(host.id.number) else { return nil }
    defer {
      nodes[host.id.number] = nil
      updateDeadline(of: host.id.number)
    }
    return nodes[host.id.number]
  }

  /// Returns the node of a host, or nil if the host has no node.
  public subscript(host: VirtualHost) -> Node? {
    nodes.indices.contains(host.id.number) ? nodes[host.id.number] : nil
  }

  /// Calls `body` with the node of a host, so that the node can act outside of an event, and
  /// returns the result. Returns nil if the host has no node.
  public mutating func withNode<Result>(
    of host: VirtualHost, _ body: (inout Node, inout VirtualNetwork) throws -> Result
  ) rethrows -> Result? {
    guard nodes.indices.contains(host.id.number), var node = nodes[host.id.number] else {
      return nil
    }
    nodes[host.id.number] = nil  // release the array's reference, so that changes do not copy
    defer {
      nodes[host.id.number] = node
      updateDeadline(of: host.id.number)
    }
    return try body(&node, &network)
  }

  /// Runs until the time `end`, or until `isDone` returns true after a step. Returns whether
  /// `isDone` returned true.
  ///
  /// If several events and timeouts are due at the same time, the events are handled before the
  /// timeouts, and the timeouts in order of host id.
  @discardableResult
  public mutating func run(
    until end: Instant, stepLimit: Int = defaultStepLimit,
    isDone: (borrowing VirtualWorld) -> Bool = { _ in false }
  ) throws(StepLimitExceeded) -> Bool {
    var left = stepLimit
    while let next = nextTime, next <= end {
      guard left > 0 else { throw StepLimitExceeded(limit: stepLimit, at: network.now) }
      left -= 1
      step(at: next)
      if isDone(self) { return true }
    }
    if network.now < end { network.advance(to: end) }
    return false
  }

  /// Runs for a duration, or until `isDone` returns true after a step. Returns whether `isDone`
  /// returned true.
  @discardableResult
  public mutating func run(
    for duration: Duration, stepLimit: Int = defaultStepLimit,
    isDone: (borrowing VirtualWorld) -> Bool = { _ in false }
  ) throws(StepLimitExceeded) -> Bool {
    try run(until: network.now + duration, stepLimit: stepLimit, isDone: isDone)
  }

  /// The time of the next event or timeout, or nil if nothing is scheduled.
  private var nextTime: Instant? {
    earliest(network.nextEventTime, deadlines.first).map { max($0, network.now) }
  }

  /// Handles the network's next event at or before `time`, or all timeouts that are due.
  private mutating func step(at time: Instant) {
    steps += 1
    if let event = network.nextEvent(notAfter: time) {
      let index = event.host.number
      guard nodes.indices.contains(index) else { return }
      nodes[index]?.handle(event, in: &network)
      updateDeadline(of: index)
      return
    }
    network.advance(to: time)
    var start = 0
    while let index = deadlines.firstIndex(from: start, dueAt: time) {
      nodes[index]?.handleTimeout(in: &network)
      updateDeadline(of: index)
      start = index + 1
    }
  }
}
