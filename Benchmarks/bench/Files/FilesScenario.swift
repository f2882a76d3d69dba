import ArgumentParser
import Carom

/// A way between the two sides of `bench files`.
enum FilesScenario: String, ExpressibleByArgument, CaseIterable, Sendable {
  case loopback, link, lossy

  var path: SessionPath.Conditions? {
    switch self {
    case .loopback: nil
    case .link: .init(delay: 0.0005, rate: 1e9, queue: 1_000_000)
    case .lossy: .init(loss: 0.05, delay: 0.05, rate: 20e6)
    }
  }

  /// The size of the file, in MiB, unless the command says another.
  var size: Int {
    switch self {
    case .loopback: 1_024
    case .link: 256
    case .lossy: 64
    }
  }

  /// The kernel's TCP to compare with. On the lossy path it is the one that fares best there.
  var peer: SessionSubject { .tcp(self == .lossy ? "bbr" : "cubic") }

  /// The smallest part of the peer's goodput that is acceptable; nil if the goal is a rate.
  var smallestShare: Double? {
    switch self {
    case .loopback: nil
    case .link: 0.9
    case .lossy: 0.95
    }
  }
}
