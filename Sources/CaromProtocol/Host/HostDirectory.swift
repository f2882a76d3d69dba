import CaromCore

/// The state that the hosts of a group share: which connection owns each key, which keys belong to
/// ended connections, the seats, and the address tokens. The shell guards the directory with a
/// lock.
package struct HostDirectory: Sendable {
  /// The maximum number of ended connections whose keys are remembered. Beyond this number, the
  /// oldest key is dropped.
  package static let endedKeyLimit = 1024
  /// The maximum number of initiators that are remembered before they have a connection. Beyond
  /// this number, the oldest initiator is dropped.
  package static let initiatorLimit = 1024

  /// The state of a connection key in the group.
  package enum KeyState: Hashable, Sendable {
    case unknown
    /// The key belongs to this connection, whose id contains the index of its host.
    case owned(ConnectionID)
    /// The initiator's datagrams arrive at the host with this index, so its connection will be
    /// created there.
    case pending(member: Int)
    /// The connection with this key has ended; its request had been answered.
    case ended
  }

  /// A dictionary that drops its oldest key when it exceeds `limit` keys. It is never iterated,
  /// because its order is not deterministic.
  private struct BoundedKeys<Value: Sendable>: Sendable {
    let limit: Int
    var values: [ConnectionKey: Value] = [:]
    var order = Deque<ConnectionKey>()

    /// Inserts a key. Returns the value of the oldest key if it was dropped.
    @discardableResult
    mutating func insert(_ key: ConnectionKey, _ value: Value) -> Value? {
      guard values.updateValue(value, forKey: key) == nil else { return nil }
      order.append(key)
      guard order.count > limit, let oldest = order.popFirst() else { return nil }
      return values.removeValue(forKey: oldest)
    }
  }

  package var seating: Seating
  var tokens = IssuedTokens()
  /// The gate that decides about attempts with the join code; nil if the hosts have no code.
  var gate: CodeGate?
  /// The tickets that were used; nil if the hosts accept none.
  var tickets: TicketBook?
  /// The owner of each connection key in the group. A connection owns at most one key.
  private(set) var owners: [ConnectionKey: ConnectionID] = [:]
  /// When the connections with the keys ended.
  private var ended = BoundedKeys<Instant>(limit: endedKeyLimit)
  /// Whether keys in `ended` that were dropped still matter.
  var memory = KeyMemory()
  private var initiators = BoundedKeys<Int>(limit: initiatorLimit)

  /// Creates the directory of a group. `security` is the security that all hosts of the group use.
  package init(seats: Int, spectatorSeats: Int = 0, security: LinkSecurity? = nil) {
    gate = security?.makeGate()
    tickets = security?.makeTicketBook()
    seating = Seating(seats: seats, spectatorSeats: spectatorSeats)
  }

  /// Records which host receives the datagrams of an initiator that has no connection yet, so that
  /// the initiator's stream is handed to the same host. A stream can be moved between hosts, but
  /// the system decides which socket receives the datagrams from an address.
  package mutating func recordInitiator(_ key: ConnectionKey, at member: Int) {
    guard owners[key] == nil else { return }
    initiators.insert(key, member)
  }

  package func state(of key: ConnectionKey) -> KeyState {
    if let owner = owners[key] { return .owned(owner) }
    if ended.values[key] != nil { return .ended }
    if let member = initiators.values[key] { return .pending(member: member) }
    return .unknown
  }

  /// Makes a connection the owner of a key.
  package mutating func claim(_ key: ConnectionKey, for id: ConnectionID) { owners[key] = id }

  /// Releases the key of a removed connection, if the connection owns the key. If `wasAnswered` is
  /// true, marks the key as ended, so that late packets do not start a new connection.
  package mutating func release(
    _ key: ConnectionKey, of id: ConnectionID, wasAnswered: Bool, at now: Instant
  ) {
    guard owners[key] == id else { return }
    owners[key] = nil
    guard wasAnswered, let dropped = ended.insert(key, now) else { return }
    memory.recordForgotten(endedAt: dropped)
  }
}
