import CaromCore
import CaromDNS

/// A discovery node that is driven by a script of bytes: packets, time steps, link changes and
/// requests in any order. The invariants are checked after each step.
///
/// The fuzz target and the ordinary tests run the same scripts.
struct MachineScript {
  /// An invariant that did not hold.
  struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// The maximum number of steps in a script.
  static let stepLimit = 160
  /// The maximum number of packets that one step may cause.
  static let packetLimit = 4_000
  /// The maximum number of timeouts in a row at one moment.
  static let timeoutLimit = 256

  var bytes: ScriptBytes
  var machine: MulticastDNS
  var now = Instant.zero
  var links: [Link] = []
  var publications: [PublicationID] = []
  var requests = OpenRequests()
  /// The packets sent most recently, some of which are sent back to the node.
  var sent: [[UInt8]] = []

  init(_ input: [UInt8]) {
    bytes = ScriptBytes(input)
    let seed = UInt64(bytes.next())
    machine = MulticastDNS(
      hostLabel: "host", isHostUnique: seed & 1 == 1, generator: SeededGenerator(seed: seed))
  }

  /// Runs the script to its end, and then withdraws all services.
  mutating func run() throws(Violation) {
    setLinks(0b0000_0011)
    try runDueTimeouts()
    var steps = 0
    while !bytes.isEmpty, steps < Self.stepLimit {
      step()
      try runDueTimeouts()
      steps += 1
    }
    machine.withdrawAll(at: now)
    publications = []
    try runDueTimeouts()
  }

  private mutating func step() {
    let code = bytes.next()
    switch code & 15 {
    case 0...3: receive(ScriptMessage.make(&bytes), bytes.next())
    case 4: receive(mutatedEcho(), bytes.next())
    case 5: receive(bytes.read(Int(bytes.next())), bytes.next())
    case 6: if let next = machine.nextTimeout { now = max(now, next) }
    case 7: now = now.advanced(by: .milliseconds(Int64(bytes.next())))
    case 8: now = now.advanced(by: .seconds(Int64(1) << Int64(bytes.next() & 15)))
    case 9: setLinks(bytes.next())
    case 10, 11: changePublications(code >> 4, bytes.next())
    default: changeRequests(code >> 4, bytes.next())
    }
    machine.handleTimeout(at: now)
  }

  /// A packet that the node sent, possibly with one byte changed.
  private mutating func mutatedEcho() -> [UInt8] {
    let choice = Int(bytes.next())
    guard !sent.isEmpty else { return [] }
    var echo = sent[choice % sent.count]
    if choice & 0x40 != 0, !echo.isEmpty {
      let offset = (Int(bytes.next()) << 8 | Int(bytes.next())) % echo.count
      echo[offset] = bytes.next()
    }
    return echo
  }

  /// Passes a packet to the node. The bits of `how` select its source, destination and interface.
  private mutating func receive(_ payload: [UInt8], _ how: UInt8) {
    let isV6 = how & 1 != 0
    let interface = UInt32(2 + (how >> 1) & 1)
    let host = UInt64(how >> 2) & 3
    let near = IPAddress.v4(0x0A00_0001 | (interface - 2) << 8 | UInt32(host))
    let address: IPAddress =
      isV6
      ? .v6(high: 0xFE80 << 48, low: 1 | host, scope: interface)
      : how & 0x10 != 0 ? .v4(0xC000_0201) : near
    let group = isV6 ? MulticastGroup.v6 : MulticastGroup.v4
    let own = Endpoint(isV6 ? .v6(high: 0xFE80 << 48, low: 1, scope: 0) : near, port: 5353)
    let port: UInt16 = how & 0x20 != 0 ? 40_000 : 5353
    machine.handle(
      Datagram(
        payload, from: Endpoint(address, port: port), to: how & 0x40 != 0 ? own : group,
        interface: interface),
      at: now)
  }

  /// Sets up to two links, with addresses selected by `code`.
  private mutating func setLinks(_ code: UInt8) {
    links = []
    for index in 0..<2 where code & (1 << UInt8(index)) != 0 {
      let last = UInt32(1 + (code >> 2) & 1)
      var addresses = [
        Link.Address(.v4(0x0A00_0000 | UInt32(index) << 8 | last), prefixLength: 24)
      ]
      if code & 8 != 0 {
        addresses.append(
          Link.Address(.v6(high: 0xFE80 << 48, low: UInt64(last), scope: 0), prefixLength: 64))
      }
      links.append(
        Link(
          index: UInt32(2 + index), addresses: addresses, receivesUnicast: code & 16 != 0,
          mtu: code & 32 != 0 ? 1280 : nil))
    }
    machine.setLinks(links, at: now)
  }
}

// MARK: - Requests

extension MachineScript {
  private mutating func changePublications(_ kind: UInt8, _ choice: UInt8) {
    let names = ["X", "X (2)", "a.b\\c", String(repeating: "é", count: 31)]
    let name = names[Int(choice & 3)]
    let chosen = publications.isEmpty ? nil : publications[Int(choice) % publications.count]
    switch (kind & 7, chosen) {
    case (0...2, _), (_, nil):
      guard publications.count < 8 else { return }
      let service = Registration(
        instance: name, type: ScriptMessage.type, port: 7777,
        text: choice & 4 == 0 ? [:] : ["k": String(repeating: "v", count: Int(choice) / 2)],
        subtypes: choice & 8 == 0 ? [] : ["_sub"], renames: choice & 16 == 0,
        isUnique: choice & 32 != 0)
      if let id = try? machine.publish(service, at: now) { publications.append(id) }
    case (3, let id?): try? machine.update(id, text: ["k": "\(choice)"], at: now)
    case (4, let id?):
      try? machine.update(id, subtypes: choice & 1 == 0 ? [] : ["_sub", "_other"], at: now)
    case (5, let id?): try? machine.rename(id, to: name, at: now)
    case (6, let id?):
      machine.withdraw(id, at: now)
      publications.removeAll { $0 == id }
    default: machine.reclaimNames(at: now)
    }
  }

  private mutating func changeRequests(_ kind: UInt8, _ choice: UInt8) {
    let name = ScriptMessage.name(choice)
    switch kind {
    case 0...2:
      let targets: [BrowseTarget] = [
        .services(ScriptMessage.type), .subtype(Array("_sub".utf8), of: ScriptMessage.type),
        .types(), .domains(.browsing), .named(name),
      ]
      guard requests.browses.count < 8 else { return }
      if let id = machine.browse(targets[Int(choice) % targets.count], at: now) {
        requests.browses.append((id, []))
      }
    case 3, 4:
      guard requests.resolves.count < 16 else { return }
      let limit = Duration.milliseconds(Int64(choice) * 40)
      requests.resolves.append(machine.resolve(name, deadline: now.advanced(by: limit), at: now))
    case 5, 6:
      guard requests.queries.count < 8 else { return }
      let types: [RecordType] = [.any, .srv, .a, .nsec, .txt]
      if let id = machine.query(name, types[Int(choice) % types.count], at: now) {
        requests.queries.append((id, 0))
      }
    case 7:
      guard requests.monitors.count < 8 else { return }
      if let id = machine.monitorText(of: name, at: now) { requests.monitors.append(id) }
    case 8...11: stop(kind, Int(choice))
    case 12: machine.reconfirm(name, at: now)
    case 13: machine.restartQuestions(on: choice & 1 == 0 ? nil : 2, at: now)
    default: _ = machine.cachedRecords(name, .any, at: now)
    }
  }

  private mutating func stop(_ kind: UInt8, _ choice: Int) {
    switch kind {
    case 8: if let id = requests.removeBrowse(choice) { machine.stopBrowsing(id) }
    case 9: if let id = requests.removeResolve(choice) { machine.cancelResolve(id) }
    case 10: if let id = requests.removeQuery(choice) { machine.stopQuery(id) }
    default: if let id = requests.removeMonitor(choice) { machine.stopMonitoring(id) }
    }
  }
}

// MARK: - Invariants

extension MachineScript {
  /// Polls the node, runs all timeouts that are due, and checks every packet and event.
  private mutating func runDueTimeouts() throws(Violation) {
    try drain()
    var timeouts = 0
    while let next = machine.nextTimeout, next <= now {
      machine.handleTimeout(at: now)
      try drain()
      timeouts += 1
      guard timeouts < Self.timeoutLimit else {
        throw Violation("the node keeps asking for a timeout that is already due")
      }
    }
  }

  private mutating func drain() throws(Violation) {
    var packets = 0
    while let transmit = machine.pollTransmit() {
      packets += 1
      guard packets < Self.packetLimit else {
        throw Violation("one step caused more than \(Self.packetLimit) packets")
      }
      try check(transmit)
    }
    while let event = machine.pollEvent() {
      switch event {
      case .querier(let event): try requests.record(event)
      case .responder(let event): try record(event)
      }
    }
  }

  private mutating func check(_ transmit: Transmit) throws(Violation) {
    guard links.contains(where: { $0.index == transmit.interface }) else {
      throw Violation("a packet for a removed link")
    }
    guard let message = try? Message(decoding: transmit.payload) else {
      throw Violation("a packet that cannot be decoded")
    }
    let records = message.answers.count + message.authorities.count + message.additionals.count
    guard transmit.payload.count <= Message.maximumSentLength || records <= 1 else {
      throw Violation("a packet of \(transmit.payload.count) bytes with \(records) records")
    }
    let isMulticast = transmit.destination.address.isMulticast
    guard !isMulticast || message.id == 0 else { throw Violation("a multicast with a nonzero ID") }
    guard !isMulticast || !message.isResponse || message.questions.isEmpty else {
      throw Violation("a multicast response with a question")
    }
    guard !message.isResponse || message.flags & 0x0400 != 0 else {
      throw Violation("a response without the AA bit")
    }
    if sent.count >= 16 { sent.removeFirst() }
    sent.append(transmit.payload)
  }

  private mutating func record(_ event: Responder.Event) throws(Violation) {
    let id: PublicationID
    switch event {
    case .published(let of, _), .renamed(let of, _): id = of
    case .failed(let of, _): id = of
    case .hostRenamed: return
    }
    guard publications.contains(id) else { throw Violation("\(event) for a withdrawn service") }
    if case .failed = event { publications.removeAll { $0 == id } }
  }
}
