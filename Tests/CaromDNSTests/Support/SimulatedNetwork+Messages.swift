import CaromCore
import CaromDNS

/// Messages from simulated hosts that are not nodes.
extension SimulatedNetwork {
  /// Multicasts a response from 10.0.`segment`.`host`.
  mutating func respond(
    _ answers: [Record], additionals: [Record] = [], from host: UInt8 = 9, on segment: Int = 0
  ) {
    var message = Message(isResponse: true)
    message.answers = answers
    message.additionals = additionals
    let source = Endpoint(.v4(0x0A00_0000 | UInt32(segment) << 8 | UInt32(host)), port: 5353)
    inject(message.encoded(), from: source, on: segment)
    run(for: .milliseconds(1))
  }

  /// Multicasts a query from 10.0.0.`host`.
  mutating func ask(
    _ questions: [Question], known: [Record] = [], authorities: [Record] = [],
    isTruncated: Bool = false, from host: UInt8 = 9
  ) {
    var message = Message()
    message.questions = questions
    message.answers = known
    message.authorities = authorities
    message.isTruncated = isTruncated
    inject(message, from: host)
    run(for: .milliseconds(1))
  }

  static func makePointer(_ label: String = "Maya's table", life: UInt32 = 4500) -> Record {
    Record(type.name(), .pointer(makeInstance(label)), timeToLive: life)
  }

  static func makeText(_ text: TXTRecord, of label: String = "Maya's table", life: UInt32 = 4500)
    -> Record
  {
    Record(makeInstance(label), .text(text.encoded), timeToLive: life, flushesCache: true)
  }

  static func makeServer(
    _ label: String = "Maya's table", priority: UInt16 = 0, weight: UInt16 = 0,
    port: UInt16 = 7777, host: Name = "host9.local", flush: Bool = true, life: UInt32 = 120
  ) -> Record {
    Record(
      makeInstance(label),
      .service(priority: priority, weight: weight, port: port, target: host), timeToLive: life,
      flushesCache: flush)
  }

  static func makeAddress(
    _ host: UInt8 = 9, of name: Name = "host9.local", life: UInt32 = 120
  ) -> Record {
    Record(
      name, .address(.v4(0x0A00_0000 | UInt32(host))), timeToLive: life, flushesCache: true)
  }

  static func makeDenial(_ name: Name, has types: [RecordType], life: UInt32 = 120) -> Record {
    Record(name, .types(next: name, types), timeToLive: life, flushesCache: true)
  }

  /// The events of a node's querier, in order.
  func querierEvents(_ node: Int) -> [Querier.Event] {
    nodes[node].events.compactMap { entry in
      if case .querier(let event) = entry.event { event } else { nil }
    }
  }

  /// The questions that a node sent for a type, with their times.
  func questions(_ node: Int, _ type: RecordType) -> [(at: Instant, question: Question)] {
    packets(node, responses: false).filter(\.message.authorities.isEmpty).flatMap { packet in
      packet.message.questions.filter { $0.key.type == type }.map { (packet.at, $0) }
    }
  }

  mutating func resolve(
    _ node: Int, _ label: String = "Maya's table", within limit: Duration = .seconds(2)
  ) -> ResolveID {
    with(node) {
      $0.resolve(Self.makeInstance(label), deadline: $1.advanced(by: limit), at: $1)
    }
  }

  @discardableResult
  mutating func browse(_ node: Int, _ target: BrowseTarget) -> BrowseID? {
    with(node) { $0.browse(target, at: $1) }
  }
}
