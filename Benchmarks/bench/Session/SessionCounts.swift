import BenchProbe
import Carom

/// Exact counts of a session over datagrams: the same on every machine.
struct SessionCounts {
  /// Bytes above UDP's payload.
  var unreliable = 0.0
  var reliable = 0.0
  /// Bytes of another message in the same datagram.
  var nextUnreliable = 0.0
  var nextReliable = 0.0
  /// Bytes of an acknowledgement that rides along.
  var acknowledgement = 0.0
  /// Bytes that a stranger's 1,200-byte hello is answered with, and one's 30-byte datagram, by its
  /// own.
  var answerToHello = 0.0
  var answerToData = 0.0
  /// And a hello whose cookie is made up.
  var answerToForged = 0.0
  /// Bytes that a host holds for strangers.
  var heldForStrangers = 0.0
  /// Of the heap, for each datagram of a game.
  var allocations = 0.0
  /// Datagrams of both sides for each tick of a game with 60 ticks a second, and with 20.
  var datagramsAt60 = 0.0
  var datagramsAt20 = 0.0
  /// Of the sender's time-outs, until a path that lets long packets pass no more is left.
  var hole = SessionHole()
  /// What the two machines take for a datagram out of one and into the other; not exact.
  var nanoseconds = 0.0

  private static let payload = [UInt8](repeating: 7, count: 60)
  private static let ticks = 2_000

  init() {
    measureAnswers()
    answerToForged = SessionStrangers.reflection(of: .forged)
    heldForStrangers = SessionStrangers.heldBytes()
    unreliable = Self.overhead([.unreliable])
    reliable = Self.overhead([.reliableOrdered])
    nextUnreliable = Self.overhead([.unreliable, .unreliable]) - unreliable
    nextReliable = Self.overhead([.reliableOrdered, .reliableOrdered]) - reliable
    measureAcknowledgement()
    measureGame()
    datagramsAt60 = Self.datagrams(hertz: 60)
    datagramsAt20 = Self.datagrams(hertz: 20)
  }

  /// What leaves for a tick of a game, acknowledgements included, when time passes evenly.
  private static func datagrams(hertz: Int) -> Double {
    let ticks = 600
    let steps = 16
    var pair = SessionPair()
    pair.settle()
    let before = pair.datagrams
    for step in 0..<ticks * steps {
      pair.advance(by: .nanoseconds(Int64(1_000_000_000 / (hertz * steps))))
      // The caller's inputs come between the ticks.
      if step % steps == 0 { pair.send(payload, from: .responder, .unreliable) }
      if step % steps == steps / 2 { pair.send(payload, from: .initiator, .unreliable) }
      pair.pass(from: .initiator)
      pair.pass(from: .responder)
    }
    return Double(pair.datagrams - before) / Double(ticks)
  }

  /// Bytes of the datagram that carries these messages, but for their own; nothing else is owed.
  private static func overhead(_ deliveries: [Delivery]) -> Double {
    var pair = SessionPair()
    pair.settle()
    for delivery in deliveries { pair.send(payload, from: .responder, delivery) }
    return Double(pair.pass(from: .responder) - deliveries.count * payload.count)
  }

  private mutating func measureAcknowledgement() {
    var pair = SessionPair()
    pair.settle()
    pair.send(Self.payload, from: .initiator, .reliableOrdered)
    pair.pass(from: .initiator)
    pair.send(Self.payload, from: .responder, .unreliable)
    let count = pair.pass(from: .responder) - Self.payload.count
    acknowledgement = Double(count) - unreliable
  }

  private mutating func measureAnswers() {
    var host = Host(SessionCarom.peer(1), seats: 1, secret: HostSecret(low: 1, high: 2))
    var caller = Host(SessionCarom.peer(2), seats: 0, secret: HostSecret(low: 3, high: 4))
    let link = caller.makeConnectionID()
    let way = SessionPair.Side.responder.way
    caller.connect(link, to: [way], key: ConnectionKey(prefix: 3, rest: 4), at: .zero)
    var hello: [UInt8] = []
    while let ready = caller.pollReady() {
      if caller.pollDatagram(on: ready, into: &hello, at: .zero) != nil { break }
    }
    func answer(to datagram: [UInt8]) -> Double {
      host.receiveDatagram(datagram.span, from: SessionPair.Side.initiator.way, at: .zero)
      var count = 0
      while let answer = host.pollStatelessReply() { count += answer.bytes.count }
      return Double(count) / Double(datagram.count)
    }
    answerToHello = answer(to: hello)
    answerToData = answer(to: [0x10, 0, 0] + [UInt8](repeating: 0, count: 27))
  }

  /// A game as `bench session --scenario game` has it.
  private mutating func measureGame() {
    let state = [UInt8](repeating: 1, count: 300)
    var pair = SessionPair()
    pair.settle()
    func play(_ count: Int) {
      for _ in 0..<count {
        pair.advance(by: .nanoseconds(16_666_667))
        pair.send(Self.payload, from: .initiator, .unreliable)
        pair.pass(from: .initiator)
        pair.send(state, from: .responder, .unreliable)
        pair.pass(from: .responder)
      }
    }
    play(Self.ticks)  // until everything has found its room
    let before = (pair.datagrams, bench_thread_allocations(), bench_thread_cpu_nanoseconds())
    play(Self.ticks)
    let datagrams = Double(pair.datagrams - before.0)
    allocations = Double(bench_thread_allocations() - before.1) / datagrams
    nanoseconds = Double(bench_thread_cpu_nanoseconds() - before.2) / datagrams
  }
}
