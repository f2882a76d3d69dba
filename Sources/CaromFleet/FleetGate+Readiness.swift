extension FleetGate {
  /// Why a host admits no further players.
  package enum Closure: Hashable, Sendable {
    /// The host has no lease: it has not joined its fleet yet, has left it, or cannot reach the
    /// directory.
    case noLease
    /// The host gets no more matches.
    case draining
  }

  /// Why the host admits nobody; nil if it does. A full host is open: its fleet knows its seats.
  /// Must be read on the loop of the host's membership.
  package var closure: Closure? {
    guard let membership else { return .noLease }
    return membership.assumeIsolated { membership in
      if membership.isDraining { return .draining }
      return membership.isAdmitting ? nil : .noLease
    }
  }
}

extension FleetGate.Closure: CustomStringConvertible {
  /// A sentence for a page.
  package var description: String {
    switch self {
    case .noLease: "This host has no lease in its fleet, so it admits nobody."
    case .draining: "This host drains: it gets no more matches."
    }
  }
}
