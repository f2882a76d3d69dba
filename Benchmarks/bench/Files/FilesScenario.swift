import ArgumentParser
import Carom
import Foundation

/// A way between the two sides of `bench files`.
enum FilesScenario: String, ExpressibleByArgument, CaseIterable, Sendable {
  case loopback, link, narrow, lossy

  var path: SessionPath.Conditions? {
    switch self {
    case .loopback: nil
    case .link: .init(delay: 0.0005, rate: 1e9, queue: 1_000_000)
    case .narrow: .init(delay: 0.0005, rate: 200e6, queue: 1_000_000)
    case .lossy: .init(loss: 0.05, delay: 0.05, rate: 20e6)
    }
  }

  /// The size of the file, in MiB, unless the command says another.
  var size: Int {
    switch self {
    case .loopback: 1_024
    case .link: 256
    case .narrow: 128
    case .lossy: 64
    }
  }

  /// The kernel's TCP to compare with: with the congestion control of this machine, which the
  /// session's TCP has too, or on the lossy path with the one that fares best there.
  var peer: SessionSubject { .tcp(self == .lossy ? "bbr" : Self.systemControl) }

  /// The congestion control of this machine's TCP.
  private static let systemControl: String = {
    let path = "/proc/sys/net/ipv4/tcp_congestion_control"
    let name = try? String(contentsOfFile: path, encoding: .utf8)
    return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "cubic"
  }()

  /// The smallest part of the peer's goodput that is acceptable; nil if the goal is a rate.
  var smallestShare: Double? {
    switch self {
    case .loopback: nil
    case .link, .narrow: 0.9
    case .lossy: 0.95
    }
  }
}
