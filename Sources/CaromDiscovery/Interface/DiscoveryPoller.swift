import CaromDNS
import CaromTransport
import Dispatch
import Synchronization

/// Discovery for programs that live in frames: begin what you want from any thread, and ask for
/// what has happened once a frame. Nothing here waits, but for `close`.
///
/// ```swift
/// let discovery = try DiscoveryPoller()
/// let tables = discovery.browse("_airhockey._tcp")
/// // each frame:
/// while let event = discovery.poll() {
///   if case .service(tables, .added(let table)) = event { list.append(table.name) }
/// }
/// ```
///
/// The work is done on a loop's own thread, with the sockets that async code shares too. What is
/// not polled waits, one event a service or request: the newest state counts.
public final class DiscoveryPoller: Sendable {
  /// Something that was begun; events name it.
  public struct Request: Hashable, Sendable {
    let number: UInt64
  }

  let discovery: DiscoveryActor
  let mailbox = Mailbox()

  /// Opens nothing yet; the first request does. Without a loop it runs on one that the program
  /// shares.
  public init(
    interfaces: InterfaceSelection = .automatic, on loop: NetworkLoop? = nil
  ) throws(DiscoveryError) {
    discovery = try DiscoveryActor.shared(on: loop, interfaces)
  }

  deinit { Self.end(mailbox, discovery) }

  /// What happened next; `nil` when all is told.
  public func poll() -> Event? {
    guard let (event, end) = mailbox.poll() else { return nil }
    if let end {
      discovery.loop.post { [discovery] in discovery.assumeIsolated { $0.stop(end) } }
    }
    return event
  }

  /// Ends a request: a service is withdrawn, a question is asked no longer. Events of it that
  /// were not polled are gone.
  public func cancel(_ request: Request) {
    mailbox.forget(request)
    discovery.loop.post { [mailbox, discovery] in
      mailbox.take(request).map { handle in discovery.assumeIsolated { $0.stop(handle) } }
    }
  }

  /// Ends every request; the goodbyes have left when this returns.
  public func close() {
    let loop = discovery.loop
    guard !loop.isCurrent else { return Self.stopAll(mailbox, discovery) }
    let done = DispatchSemaphore(value: 0)
    loop.post { [mailbox, discovery] in
      Self.stopAll(mailbox, discovery)
      done.signal()
    }
    done.wait()
  }

  private static func end(_ mailbox: Mailbox, _ discovery: DiscoveryActor) {
    discovery.loop.post { stopAll(mailbox, discovery) }
  }

  private static func stopAll(_ mailbox: Mailbox, _ discovery: DiscoveryActor) {
    for handle in mailbox.close() { discovery.assumeIsolated { $0.stop(handle) } }
  }
}
