import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// A one-shot multicast DNS query from ephemeral ports, to which hosts respond by unicast (RFC 6762
/// §5.1). It must not be sent from port 5353, since hosts would take it for a query from a full
/// implementation.
actor OneShotQuery: LoopActor {
  /// The new records of a response.
  struct Reply: Sendable {
    /// The records that answer the question.
    var answers: [Record]
    /// The other records of the response.
    var others: [Record]
    /// Whether the response states that the name has no records of the type (RFC 6762 §6.1).
    var isDenial: Bool
    var source: Endpoint
    var interface: UInt32
  }

  /// The delays after the first query at which the query is repeated while no answer has arrived.
  static let repetitions: [Duration] = [.seconds(1), .seconds(3)]
  /// The maximum number of records that are reported.
  static let recordLimit = 4096

  nonisolated let loop: NetworkLoop
  nonisolated let question: Question
  private let id = UInt16.random(in: .min ... .max)
  private let handleReply: @Sendable (Reply) -> Void
  private var sockets: [(socket: UDPSocket, group: Endpoint, interface: UInt32)] = []
  private var seen: Set<Record.Identity> = []

  init(
    _ question: Question, on loop: NetworkLoop, _ handleReply: @escaping @Sendable (Reply) -> Void
  ) {
    self.question = question
    self.loop = loop
    self.handleReply = handleReply
  }

  /// Sends the query on the selected interfaces, repeats it while there is no answer, and receives
  /// responses until the task is cancelled.
  func run(with options: ToolOptions) async throws {
    let all = try Interfaces.list()
    for name in options.interface where !all.contains(where: { $0.name == name && $0.isUp }) {
      throw DiscoveryError.noSuchInterface(name)
    }
    for interface in options.interfaces.selected(from: all) { try open(interface) }
    guard !sockets.isEmpty else { throw DiscoveryError.noMulticastInterface }
    send()
    let start = loop.now
    for time in Self.repetitions {
      try await loop.sleep(until: start + time)
      if seen.isEmpty { send() }
    }
    try await loop.sleep(until: .distantFuture)
  }

  private func open(_ interface: Interface) throws(TransportError) {
    let families = Set(interface.addresses.map(\.address.isV6))
    for group in [MulticastGroup.v4, MulticastGroup.v6] where families.contains(group.address.isV6)
    {
      // IPv6 multicast on loopback needs a route.
      if interface.isLoopback, group.address.isV6, families.contains(false) { continue }
      var options = UDPOptions()
      options.largestDatagram = Message.maximumLength
      let index = interface.index
      let socket = try UDPSocket(
        on: loop, owner: self, bind: Endpoint(group.address.isV6 ? .any6 : .any4, port: 0),
        options: options
      ) { query, batch in query.receive(batch, on: index) }
      try socket.setMulticastInterface(index)
      try socket.setMulticastHopLimit(255)
      sockets.append((socket, Endpoint(group.address.scoped(to: index), port: group.port), index))
    }
  }

  private func send() {
    var query = Message(id: id)
    query.questions = [question]
    let payload = query.encoded()
    for (socket, group, interface) in sockets {
      socket.send(payload, to: group, interface: interface)
      socket.flush()
    }
  }

  private func receive(_ batch: borrowing UDPBatch, on interface: UInt32) {
    for index in batch.indices where !batch[index].isTruncated {
      let datagram = batch[index].copy()
      guard datagram.source.port == MulticastGroup.port,
        let message = try? Message(decoding: datagram.payload), message.isResponse,
        message.isStandard, message.id == id
      else { continue }
      handleReply(reply(message, from: datagram.source, interface))
    }
  }

  private func reply(
    _ message: Message, from source: Endpoint, _ interface: UInt32
  ) -> Reply {
    let all = message.answers + message.additionals
    let new = all.filter { seen.count < Self.recordLimit && seen.insert($0.identity).inserted }
    return Reply(
      answers: new.filter(question.isAnswered), others: new.filter { !question.isAnswered(by: $0) },
      isDenial: new.contains { $0.type == .nsec && $0.name == question.key.name },
      source: source, interface: interface)
  }
}
