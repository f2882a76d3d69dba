import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// A multicast DNS query that is sent by one command and ends with it.
///
/// The query is first sent from port 5353. Like every full implementation, the tool then receives
/// on that port the multicast answers of all hosts, which carry the real times to live. One-shot
/// queries from ephemeral ports follow, to which hosts respond by unicast with a time to live of at
/// most 10 s (RFC 6762 §5.1, §6.7). The one-shot queries are needed because a host that has
/// multicast an answer within the last second does not repeat it (§6), and because another program
/// may have exclusive use of port 5353.
actor LinkQuery: LoopActor {
  /// The new records of a response.
  struct Reply: Sendable {
    /// The records that answer a question.
    var answers: [Record]
    /// The other records of the response.
    var others: [Record]
    /// The questions for which the response states that no record exists.
    var denied: [RecordKey]
    /// The sender, and the interface that received the response; nil for a name server's answer.
    var source: Endpoint?
    var interface: UInt32?
  }

  private struct Socket {
    let socket: UDPSocket
    let group: Endpoint
    let interface: UInt32
    /// Whether the socket is bound to port 5353.
    let isMember: Bool
  }

  /// The time after which a query is also sent from an ephemeral port, unless an answer has arrived
  /// and no other host can have a further one. Hosts delay an answer by at most 120 ms (RFC 6762
  /// §6).
  static let patience = Duration.milliseconds(250)
  /// The times, measured from the first query, at which the query is repeated if no host has
  /// answered or `isRepeated` is true.
  static let repetitions: [Duration] = [.seconds(1), .seconds(3)]
  /// The maximum number of records that are reported.
  static let recordLimit = 4096

  nonisolated let loop: NetworkLoop
  nonisolated let questions: [Question]
  /// Whether the query is repeated even after a host has answered.
  private let isRepeated: Bool
  private let id = UInt16.random(in: 1 ... .max)
  private let handleReply: @Sendable (Reply) -> Void
  private var sockets: [Socket] = []
  private var seen: Set<Record.Identity> = []

  init(
    _ keys: [RecordKey], isRepeated: Bool = false, on loop: NetworkLoop,
    _ handleReply: @escaping @Sendable (Reply) -> Void
  ) {
    self.isRepeated = isRepeated
    questions = keys.map { Question($0.name, $0.type) }
    self.loop = loop
    self.handleReply = handleReply
  }

  /// Returns whether several hosts may have records with the given key.
  static func isShared(_ key: RecordKey) -> Bool { [.ptr, .any].contains(key.type) }

  /// Sends the query on the selected interfaces, repeats it while there is no answer or if
  /// `isRepeated` is true, and receives responses until the task is cancelled.
  func run(with options: ToolOptions) async throws {
    for interface in try options.current() {
      // Another program may hold port 5353 for itself: one-shot queries do without.
      try? open(interface, isMember: true)
      try open(interface, isMember: false)
    }
    let start = loop.now
    if sockets.contains(where: \.isMember) {
      send(asMember: true)
      try await loop.sleep(until: start + Self.patience)
    }
    if seen.isEmpty || questions.contains(where: { Self.isShared($0.key) }) {
      send(asMember: false)
    }
    for time in Self.repetitions {
      try await loop.sleep(until: start + time)
      guard seen.isEmpty || isRepeated else { break }
      send(asMember: true)
      send(asMember: false)
    }
    try await loop.sleep(until: .distantFuture)
  }

  private func open(_ interface: Interface, isMember: Bool) throws(TransportError) {
    let families = Set(interface.addresses.map(\.address.isV6))
    for group in [MulticastGroup.v4, MulticastGroup.v6] where families.contains(group.address.isV6)
    {
      // IPv6 multicast on loopback needs a route.
      if interface.isLoopback, group.address.isV6, families.contains(false) { continue }
      try open(group, on: interface.index, isMember: isMember)
    }
  }

  private func open(
    _ group: Endpoint, on index: UInt32, isMember: Bool
  ) throws(TransportError) {
    var options = UDPOptions()
    options.largestDatagram = Message.maximumLength
    options.reuseAddress = isMember
    options.reusePort = isMember
    let scoped = Endpoint(group.address.scoped(to: index), port: group.port)
    let local = isMember ? scoped : Endpoint(group.address.isV6 ? .any6 : .any4, port: 0)
    let socket = try UDPSocket(on: loop, owner: self, bind: local, options: options) {
      query, batch in query.receive(batch, on: index, isMember: isMember)
    }
    if isMember {
      try socket.join(group.address, on: index)
      try socket.setMulticastLoopback(true)
    }
    try socket.setMulticastInterface(index)
    try socket.setMulticastHopLimit(255)
    sockets.append(Socket(socket: socket, group: scoped, interface: index, isMember: isMember))
  }

  private func send(asMember isMember: Bool) {
    var query = Message(id: isMember ? 0 : id)
    query.questions = questions
    let payload = query.encoded()
    for socket in sockets where socket.isMember == isMember {
      socket.socket.send(payload, to: socket.group, interface: socket.interface)
      socket.socket.flush()
    }
  }

  private func receive(_ batch: borrowing UDPBatch, on interface: UInt32, isMember: Bool) {
    for index in batch.indices where !batch[index].isTruncated {
      let datagram = batch[index].copy()
      guard datagram.source.port == MulticastGroup.port,
        let message = try? Message(decoding: datagram.payload), message.isResponse,
        message.isStandard, isMember || message.id == id
      else { continue }
      let reply = reply(message, from: datagram.source, interface, isMember: isMember)
      // Other responses pass on port 5353 as well.
      guard !isMember || !reply.answers.isEmpty || !reply.denied.isEmpty else { continue }
      handleReply(reply)
    }
  }

  private func reply(
    _ message: Message, from source: Endpoint, _ interface: UInt32, isMember: Bool
  ) -> Reply {
    let all = message.answers + message.additionals
    let isRelated = all.contains { record in questions.contains { $0.isAnswered(by: record) } }
    let denied = questions.map(\.key).filter { key in
      all.contains { $0.name == key.name && $0.data.denies(key.type) } || !isMember && all.isEmpty
    }
    let new = all.filter { record in
      guard isRelated || !isMember, record.timeToLive > 0 else { return false }
      return seen.count < Self.recordLimit && seen.insert(record.identity).inserted
    }
    return Reply(
      answers: new.filter { record in questions.contains { $0.isAnswered(by: record) } },
      others: new.filter { record in !questions.contains { $0.isAnswered(by: record) } },
      denied: denied, source: source, interface: interface)
  }
}
