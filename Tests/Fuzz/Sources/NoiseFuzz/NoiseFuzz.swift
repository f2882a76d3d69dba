import CaromCore
import CaromCrypto
import FuzzSupport

/// Makes the stages before the first input, so that their time does not count as its.
@c(LLVMFuzzerInitialize)
public func initializeFuzzer(
  _ count: UnsafeMutablePointer<CInt>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
  precondition(!NoiseRun.stages.isEmpty, "there are handshakes to continue")
  return 0
}

/// Continues a Noise handshake whose pattern, cipher and stage the first two bytes choose, with the
/// payloads and changes to messages that follow, in both roles. Expects that a message that is
/// rejected changes nothing, and that no handshake of which a message was changed is completed by
/// both sides with the same hash.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var script = FuzzScript(fuzzInput(data, count))
  let number = Int(script.next()) | Int(script.next()) << 8
  var run = NoiseRun.stages[number % NoiseRun.stages.count]
  run.run(script)
  return 0
}

/// The fixed keys of all handshakes.
enum Keys {
  static let statics = [makePair(1), makePair(2)]
  static let ephemerals = [makePair(3), makePair(4)]
  static let shared = makeSecret(5)

  private static let bases = [
    "NN", "NK", "NX", "KN", "KK", "KX", "XN", "XK", "XX", "IN", "IK", "IX",
  ]

  private static func makeSecret(_ seed: UInt64) -> SecretBytes {
    var generator = SeededGenerator(seed: seed)
    return SecretBytes(random: KeyPair.secretLength, using: &generator)
  }

  private static func makePair(_ seed: UInt64) -> KeyPair { KeyPair(secret: makeSecret(seed)) }

  /// All interactive patterns, without a pre-shared key and with one at each position.
  static let patterns: [HandshakePattern] = bases.flatMap { name in
    [HandshakePattern(name)].compactMap { $0 }
      + (0...3).compactMap { HandshakePattern("\(name)psk\($0)") }
  }
}

private struct NoiseRun {
  private var sides: [Handshake]
  private var script: FuzzScript
  private var isChanged = false

  /// All handshakes before each of their messages, while nobody has changed one. They are made
  /// once, because an input need not repeat the public-key operations before its own messages.
  static let stages: [NoiseRun] = Keys.patterns.flatMap { pattern in
    Cipher.allCases.filter(\.isAvailable).flatMap { cipher in
      var (run, stages) = (NoiseRun(pattern, cipher), [NoiseRun]())
      while let writer = run.sides.firstIndex(where: \.isWriting) {
        stages.append(run)
        precondition(run.exchange(from: writer, to: 1 - writer), "nobody has changed a message")
      }
      return stages
    }
  }

  private init(_ pattern: HandshakePattern, _ cipher: Cipher) {
    script = FuzzScript([])
    let letters = Array(pattern.name.utf8)
    let knowsKey = [letters[1] == UInt8(ascii: "K"), letters[0] == UInt8(ascii: "K")]
    sides = (0..<2).map { side in
      Handshake(
        pattern, cipher: cipher, isInitiator: side == 0, prologue: [1, 2, 3],
        staticKey: Keys.statics[side],
        remoteStatic: knowsKey[side] ? Keys.statics[1 - side].publicKey : nil,
        ephemeralKey: Keys.ephemerals[side], presharedKey: Keys.shared)
    }
  }

  mutating func run(_ script: FuzzScript) {
    self.script = script
    while let writer = sides.firstIndex(where: \.isWriting) {
      guard exchange(from: writer, to: 1 - writer) else { return }
    }
    precondition(sides[0].isComplete && sides[1].isComplete)
    precondition(
      isChanged == (sides[0].hash != sides[1].hash), "only an unchanged handshake has one hash")
    if !isChanged { exchangeData() }
  }

  /// Delivers a message, perhaps after changing it. Returns false if the handshake has failed.
  private mutating func exchange(from writer: Int, to reader: Int) -> Bool {
    let payload = script.read(Int(script.next() & 31))
    guard let message = try? sides[writer].write(payload) else {
      precondition(isChanged, "a handshake that nobody has changed does not fail")
      return false
    }
    var changed = message
    change(&changed)
    let before = sides[reader].hash
    if changed != message, (try? sides[reader].read(changed.span)) != nil {
      isChanged = true
      return true
    }
    precondition(sides[reader].hash == before, "a message that is rejected changes nothing")
    // To read the message itself takes as many public-key operations again.
    if changed != message, script.next() & 3 != 0 { return false }
    let received = try? sides[reader].read(message.span)
    precondition(received == payload || isChanged, "a message that nobody has changed arrives")
    return received != nil
  }

  /// Changes a message as the script says: some of its bytes, or its length, or all of it.
  private mutating func change(_ message: inout [UInt8]) {
    let operation = script.next()
    switch operation & 7 {
    case 1, 2:
      for _ in 0...(operation >> 3) & 3 where !message.isEmpty {
        message[Int(script.next()) % message.count] ^= script.next()
      }
    case 3: message.removeLast(min(message.count, Int(script.next())))
    case 4: message += script.read(Int(script.next()))
    case 5: message = script.read(Int(script.next()))
    case 6:
      // A public key of low order: the shared secret would be zero (RFC 7748, section 6.1).
      message.replaceSubrange(
        0..<min(32, message.count), with: [UInt8](repeating: operation >> 7, count: 32))
    default: break
    }
  }

  private mutating func exchangeData() {
    let keys = sides.map { $0.makeTransportKeys() }
    precondition(sides[0].makeSecret() == sides[1].makeSecret())
    let plain = script.read(64)
    let head = plain.isEmpty ? 0 : Int(script.next()) % (plain.count + 1)
    var sealed = plain
    keys[0].sending.seal(&sealed, head: head, number: 7)
    var changed = sealed
    change(&changed)
    var opened: [UInt8] = []
    let isAccepted =
      head <= changed.count
      && keys[1].receiving.open(changed.span, head: head, number: 7, into: &opened)
    precondition(isAccepted == (changed == sealed), "only what was sealed is opened")
    precondition(!isAccepted || opened == Array(plain[head...]))
  }
}
