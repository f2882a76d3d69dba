import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// A question to the link from ports of its own: whoever has the answer sends it here alone
/// (RFC 6762 §5.1). Port 5353 is never used, so that nobody takes it for a whole implementation.
actor OneShotQuery: LoopActor {
  /// What is new in a message.
  struct Reply: Sendable {
    /// Records that answer the question.
    var answers: [Record]
    /// What came with them.
    var others: [Record]
    /// Whether it says that the name has no such records (RFC 6762 §6.1).
    var isDenial: Bool
    var source: Endpoint
    var interface: UInt32
  }

  /// When the question is repeated, while nobody has answered.
  static let repeats: [Duration] = [.seconds(1), .seconds(3)]
  /// Records that are told at most.
  static let recordLimit = 4096

  nonisolated let loop: NetworkLoop
  nonisolated let question: Question
  private let id = UInt16.random(in: .min ... .max)
  private let hear: @Sendable (Reply) -> Void
  private var sockets: [(socket: UDPSocket, group: Endpoint, interface: UInt32)] = []
  private var seen: Set<Record.Identity> = []

  init(_ question: Question, on loop: NetworkLoop, _ hear: @escaping @Sendable (Reply) -> Void) {
    self.question = question
    self.loop = loop
    self.hear = hear
  }

  /// Asks on the interfaces of the options, and again while there is no answer, until the task is
  /// cancelled.
  func run(with options: ToolOptions) async throws {
    let all = try Interfaces.list()
    for name in options.interface where !all.contains(where: { $0.name == name && $0.isUp }) {
      throw DiscoveryError.noSuchInterface(name)
    }
    for interface in options.interfaces.selected(from: all) { try open(interface) }
    guard !sockets.isEmpty else { throw DiscoveryError.noMulticastInterface }
    send()
    let start = loop.now
    for time in Self.repeats {
      try await loop.sleep(until: start + time)
      if seen.isEmpty { send() }
    }
    try await loop.sleep(until: .distantFuture)
  }

  private func open(_ interface: Interface) throws(TransportError) {
    let families = Set(interface.addresses.map(\.address.isV6))
    for group in [MulticastGroup.v4, MulticastGroup.v6] where families.contains(group.address.isV6)
    {
      // On loopback multicast over IPv6 needs a route.
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
      hear(reply(message, from: datagram.source, interface))
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
