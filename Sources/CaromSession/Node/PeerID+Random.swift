import CaromCore

extension PeerID {
  /// A new id from the system's generator: for the shell, since pure code is given its chance.
  public static func random() -> PeerID {
    PeerID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }
}
