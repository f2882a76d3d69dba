import BenchProbe
import Carom

/// Exact counts of a session over datagrams, which are the same on every machine.
struct SessionCounts {
  /// The bytes that one message adds to its own bytes, in a UDP payload: of an unreliable message
  /// and of a reliable one.
  var unreliable = 0.0
  var reliable = 0.0
  /// The bytes that each further message in the same datagram adds to its own bytes.
  var nextUnreliable = 0.0
  var nextReliable = 0.0
  /// The bytes that an acknowledgement adds to a datagram that is sent anyway.
  var acknowledgement = 0.0
  /// The bytes that a host sends to an unvalidated address, divided by the bytes received from it:
  /// for a hello of 1,200 bytes, and for a data packet of 30 bytes.
  var answerToHello = 0.0
  var answerToData = 0.0
  /// The same ratio for hellos with a forged cookie.
  var answerToForged = 0.0
  /// The bytes of memory that a host holds for unvalidated addresses.
  var heldForStrangers = 0.0
  /// The bytes of memory that a host holds for each peer that only answers pings.
  var heldForIdlePeer = 0.0
  /// The heap allocations for each datagram of a game.
  var allocations = 0.0
  /// The datagrams that both sides send in each tick of a game, at 60 and at 20 ticks a second.
  var datagramsAt60 = 0.0
  var datagramsAt20 = 0.0
  /// The same counts of an encrypted session.
  var encrypted = SessionEncryptedCounts()
  /// The behavior on a path that starts to drop long packets.
  var blackHole = SessionBlackHole()
  /// The processor time to send a datagram from one machine and receive it in the other, in
  /// nanoseconds; not an exact count.
  var nanoseconds = 0.0

  private static let payload = [UInt8](repeating: 7, count: 60)
  private static let ticks = 2_000

  init() {
    measureAnswers()
    answerToForged = SessionUnvalidatedSenders.reflection(of: .forged)
    heldForStrangers = SessionUnvalidatedSenders.heldBytes()
    heldForIdlePeer = SessionVirtualServer.heldBytes()
    unreliable = Self.overhead([.unreliable])
    reliable = Self.overhead([.reliableOrdered])
    nextUnreliable = Self.overhead([.unreliable, .unreliable]) - unreliable
    nextReliable = Self.overhead([.reliableOrdered, .reliableOrdered]) - reliable
    acknowledgement = Self.acknowledgement() - unreliable
    (allocations, nanoseconds) = Self.measureGame()
    datagramsAt60 = Self.datagrams(hertz: 60)
    datagramsAt20 = Self.datagrams(hertz: 20)
    encrypted.measure()
  }

  /// Returns the datagrams of each tick of a game, including acknowledgements, while time passes
  /// evenly.
  private static func datagrams(hertz: Int) -> Double {
    let ticks = 600
    let steps = 16
    var pair = SessionPair()
    pair.exchangeUntilIdle()
    let before = pair.datagrams
    for step in 0..<ticks * steps {
      pair.advance(by: .nanoseconds(Int64(1_000_000_000 / (hertz * steps))))
      // The client's inputs are sent halfway between the host's ticks.
      if step % steps == 0 { pair.send(payload, from: .responder, .unreliable) }
      if step % steps == steps / 2 { pair.send(payload, from: .initiator, .unreliable) }
      pair.deliverPending(from: .initiator)
      pair.deliverPending(from: .responder)
    }
    return Double(pair.datagrams - before) / Double(ticks)
  }

  /// Returns the bytes of the datagram that carries messages with these deliveries, minus the bytes
  /// of the messages. No acknowledgement is pending.
  static func overhead(_ deliveries: [Delivery], isEncrypted: Bool = false) -> Double {
    var pair = SessionPair(isEncrypted: isEncrypted)
    pair.exchangeUntilIdle()
    // Acknowledges the last pong, which nothing but the next message does.
    pair.send(payload, from: .responder, .unreliable)
    pair.deliverPending(from: .responder)
    for delivery in deliveries { pair.send(payload, from: .responder, delivery) }
    return Double(pair.deliverPending(from: .responder) - deliveries.count * payload.count)
  }

  /// Returns the bytes that an unreliable message and an acknowledgement add to the message.
  static func acknowledgement(isEncrypted: Bool = false) -> Double {
    var pair = SessionPair(isEncrypted: isEncrypted)
    pair.exchangeUntilIdle()
    pair.send(payload, from: .initiator, .reliableOrdered)
    pair.deliverPending(from: .initiator)
    pair.send(payload, from: .responder, .unreliable)
    return Double(pair.deliverPending(from: .responder) - payload.count)
  }

  private mutating func measureAnswers() {
    var host = Host(SessionCarom.peer(1), seats: 1, secret: HostSecret(low: 1, high: 2))
    var client = Host(SessionCarom.peer(2), seats: 0, secret: HostSecret(low: 3, high: 4))
    let connection = client.makeConnectionID()
    let route = SessionPair.Side.responder.route
    client.connect(connection, to: [route], key: ConnectionKey(prefix: 3, rest: 4), at: .zero)
    var hello: [UInt8] = []
    while let ready = client.pollReady() {
      if client.pollDatagram(on: ready, into: &hello, at: .zero) != nil { break }
    }
    func answer(to datagram: [UInt8]) -> Double {
      host.receiveDatagram(datagram.span, from: SessionPair.Side.initiator.route, at: .zero)
      var count = 0
      while let answer = host.pollStatelessReply() { count += answer.bytes.count }
      return Double(count) / Double(datagram.count)
    }
    answerToHello = answer(to: hello)
    answerToData = answer(to: [0x10, 0, 0] + [UInt8](repeating: 0, count: 27))
  }

  /// Plays the game of `bench session --scenario game`. Returns the allocations and the nanoseconds
  /// for each datagram.
  static func measureGame(
    isEncrypted: Bool = false
  ) -> (allocations: Double, nanoseconds: Double) {
    let state = [UInt8](repeating: 1, count: 300)
    var pair = SessionPair(isEncrypted: isEncrypted)
    pair.exchangeUntilIdle()
    func play(_ count: Int) {
      for _ in 0..<count {
        pair.advance(by: .nanoseconds(16_666_667))
        pair.send(payload, from: .initiator, .unreliable)
        pair.deliverPending(from: .initiator)
        pair.send(state, from: .responder, .unreliable)
        pair.deliverPending(from: .responder)
      }
    }
    play(ticks)  // lets all buffers grow to their final size
    let before = (pair.datagrams, bench_thread_allocations(), bench_thread_cpu_nanoseconds())
    play(ticks)
    let datagrams = Double(pair.datagrams - before.0)
    return (
      Double(bench_thread_allocations() - before.1) / datagrams,
      Double(bench_thread_cpu_nanoseconds() - before.2) / datagrams
    )
  }
}
