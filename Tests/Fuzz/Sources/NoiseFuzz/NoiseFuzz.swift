import CaromCore
import CaromCrypto
import FuzzSupport

/// Runs a Noise handshake with the pattern, cipher, payloads and changes to messages that the input
/// chooses, in both roles. Expects that a message that is rejected changes nothing, and that no
/// handshake of which a message was changed is completed by both sides with the same hash.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var script = FuzzScript(fuzzInput(data, count))
  guard let pattern = Keys.pattern(script.next(), script.next()) else { return 0 }
  let cipher: Cipher = script.next() & 1 == 0 || !Cipher.aesGCM.isAvailable ? .chaChaPoly : .aesGCM
  var run = NoiseRun(pattern, cipher, script)
  run.run()
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

  /// Returns the pattern that two bytes stand for, with a pre-shared key in most of them; nil if
  /// there is no such pattern.
  static func pattern(_ base: UInt8, _ position: UInt8) -> HandshakePattern? {
    let name = bases[Int(base) % bases.count]
    return position % 5 == 4
      ? HandshakePattern(name) : HandshakePattern("\(name)psk\(position % 5)")
  }
}

private struct NoiseRun {
  private var sides: [Handshake]
  private var script: FuzzScript
  private var isChanged = false

  init(_ pattern: HandshakePattern, _ cipher: Cipher, _ script: FuzzScript) {
    self.script = script
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

  mutating func run() {
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
