import CaromCore
import CaromDNS

/// Something that asks name servers until it is stopped.
struct UnicastWork {
  var task: Task<Void, Never>?
  /// What goes on at the link beside it.
  var link: DiscoveryCore.WatchingID?
  /// Tells whoever waits that it is over.
  var close: @Sendable () -> Void
}
