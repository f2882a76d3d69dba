import CaromCore
import CaromCrypto
import CaromProtocol

/// Handshakes that nobody disturbs, at every stage: before each datagram, and before each delivery
/// on a stream. They are made once, and each input continues a copy of one of them.
enum Stages {
  /// The maximum number of stages of one handshake. Its last ones are those of an open connection.
  private static let limit = 16

  static let all: [HandshakeScript] = {
    var all: [HandshakeScript] = []
    for security in ScriptSecurity.encrypted {
      for links in HandshakeScript.Links.allCases {
        all += stages(of: HandshakeScript(security, links))
        // The host has another key, so its answer is that to an initiator that knows none.
        guard security == .anyone else { continue }
        all += stages(of: HandshakeScript(security, links, hostKey: otherKey))
      }
    }
    return all
  }()

  private static let otherKey: PublicKey = {
    var generator = SeededGenerator(seed: 18)
    return Identity(using: &generator).publicKey
  }()

  private static func stages(of beginning: HandshakeScript) -> [HandshakeScript] {
    var (run, stages) = (beginning, [beginning])
    while stages.count < limit, run.deliverSomething() { stages.append(run) }
    return stages
  }
}
