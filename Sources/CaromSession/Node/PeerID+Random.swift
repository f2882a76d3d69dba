import CaromCore

extension PeerID {
  /// Returns a random id drawn from the system's generator. The method is declared here because
  /// `CaromCore` must not use the system's generator.
  public static func random() -> PeerID {
    PeerID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }
}
