import CaromCore
import CaromDNS

extension SimulatedNetwork {
  static let type: ServiceType = "_airhockey._tcp"

  static func makeService(_ name: String = "Maya's table", port: UInt16 = 7777) -> Registration {
    Registration(instance: name, type: type, port: port, text: ["seats": "1/2"])
  }

  @discardableResult
  mutating func publish(
    _ node: Int, _ name: String = "Maya's table", port: UInt16 = 7777
  ) -> PublicationID {
    publish(node, Self.makeService(name, port: port))
  }

  @discardableResult
  mutating func publish(_ node: Int, _ service: Registration) -> PublicationID {
    withoutError { try with(node) { try $0.publish(service, at: $1) } }
  }

  mutating func update(_ node: Int, _ id: PublicationID, text: TXTRecord) {
    withoutError { try with(node) { try $0.update(id, text: text, at: $1) } }
  }

  mutating func update(_ node: Int, _ id: PublicationID, subtypes: [String]) {
    withoutError { try with(node) { try $0.update(id, subtypes: subtypes, at: $1) } }
  }

  mutating func rename(_ node: Int, _ id: PublicationID, to name: String) {
    withoutError { try with(node) { try $0.rename(id, to: name, at: $1) } }
  }

  private func withoutError<Result>(_ body: () throws -> Result) -> Result {
    do { return try body() } catch {
      preconditionFailure("the call must not throw, but threw \(error)")
    }
  }

  @discardableResult
  mutating func browse(_ node: Int) -> BrowseID {
    guard let id = browse(node, .services(Self.type)) else {
      preconditionFailure("the node already runs \(Querier.browseLimit) browses")
    }
    return id
  }

  /// The names under which a node's services were published or renamed, in order.
  func names(_ node: Int) -> [String] {
    nodes[node].events.compactMap { entry in
      switch entry.event {
      case .responder(.published(_, let name)), .responder(.renamed(_, let name)): name
      default: nil
      }
    }
  }

  /// The changes that a node's browse reported: "+name", "~name" or "-name".
  func changes(_ node: Int) -> [String] {
    nodes[node].events.compactMap { entry in
      switch entry.event {
      case .querier(.added(_, let service)): "+" + service.instance
      case .querier(.updated(_, let service)): "~" + service.instance
      case .querier(.removed(_, let service)): "-" + service.instance
      default: nil
      }
    }
  }

  func resolutions(_ node: Int) -> [Resolution?] {
    nodes[node].events.compactMap { entry in
      switch entry.event {
      case .querier(.resolved(_, let resolution)): .some(resolution)
      case .querier(.unresolved): .some(nil)
      default: nil
      }
    }
  }

  /// The queries or the responses that a node sent.
  func packets(_ node: Int, responses: Bool) -> [Packet] {
    log.filter { $0.sender == node && $0.message.isResponse == responses }
  }

  /// The probes that a node sent: queries that propose records.
  func probes(_ node: Int) -> [Packet] {
    packets(node, responses: false).filter { !$0.message.authorities.isEmpty }
  }

  static func makeInstance(_ label: String = "Maya's table") -> Name {
    guard let name = try? type.name().prefixed(by: label) else {
      preconditionFailure("'\(label)' is not a valid label")
    }
    return name
  }

  /// A network with one node that has published and announced a service.
  static func makePublished(
    _ seed: UInt64 = 1, _ service: Registration = SimulatedNetwork.makeService(),
    dualStack: Bool = false
  ) -> (network: SimulatedNetwork, id: PublicationID) {
    var network = SimulatedNetwork(seed: seed)
    network.addNode(1, dualStack: dualStack)
    let id = network.publish(0, service)
    network.run(for: .seconds(5))
    return (network, id)
  }

  static func makeQuery(_ questions: [Question], known: [Record] = []) -> Message {
    var query = Message()
    query.questions = questions
    query.answers = known
    return query
  }

  static func makeResponse(_ answers: [Record]) -> Message {
    var response = Message(isResponse: true)
    response.answers = answers
    return response
  }

  /// The first node's responses within 900 ms of a query.
  mutating func answers(
    to questions: [Question], known: [Record] = [], from host: UInt8 = 9, port: UInt16 = 5353
  ) -> [Packet] {
    log = []
    inject(Self.makeQuery(questions, known: known), from: host, port: port)
    run(for: .milliseconds(900))
    return packets(0, responses: true)
  }

  /// All records that a node sent, answers before additional records.
  func sentRecords(_ node: Int) -> [Record] {
    packets(node, responses: true).flatMap { $0.message.answers + $0.message.additionals }
  }
}
