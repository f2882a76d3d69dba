import CaromDiscovery
import CaromNearby
import CaromTransport
import Foundation

/// What a `NetServiceBrowser` reports, on a serial queue. All methods have default implementations
/// that do nothing.
public protocol NetServiceBrowserDelegate: AnyObject {
  /// The search begins.
  func netServiceBrowserWillSearch(_ browser: NetServiceBrowser)
  /// The search has ended.
  func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser)
  /// The search did not begin or has failed, for the reason in the dictionary.
  func netServiceBrowser(
    _ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber])
  /// A domain was found.
  func netServiceBrowser(
    _ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool)
  /// A service was found. `moreComing` is always false.
  func netServiceBrowser(
    _ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool)
  /// A domain is gone.
  func netServiceBrowser(
    _ browser: NetServiceBrowser, didRemoveDomain domainString: String, moreComing: Bool)
  /// A service is gone.
  func netServiceBrowser(
    _ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool)
}

extension NetServiceBrowserDelegate {
  /// Does nothing.
  public func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) {}
  /// Does nothing.
  public func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) {}
  /// Does nothing.
  public func netServiceBrowser(
    _ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]
  ) {}
  /// Does nothing.
  public func netServiceBrowser(
    _ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool
  ) {}
  /// Does nothing.
  public func netServiceBrowser(
    _ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool
  ) {}
  /// Does nothing.
  public func netServiceBrowser(
    _ browser: NetServiceBrowser, didRemoveDomain domainString: String, moreComing: Bool
  ) {}
  /// Does nothing.
  public func netServiceBrowser(
    _ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool
  ) {}
}

/// Looks for services of a type, or for domains.
open class NetServiceBrowser: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  private struct State: Sendable {
    var search: Task<Void, Never>?
    /// The services that were found, so that a removed one is the same object.
    var found: [DiscoveredService.ID: NetService] = [:]
  }

  private let calls = DelegateCalls(on: NetService.queue)
  private let state = Locked(State())

  /// Creates a browser that does nothing yet.
  public override init() { super.init() }

  deinit {
    calls.end()
    state.withLock { $0.search?.cancel() }
  }

  /// The object that is told what is found. It is not retained.
  open var delegate: (any NetServiceBrowserDelegate)? {
    get { calls.delegate as? any NetServiceBrowserDelegate }
    set { calls.delegate = newValue }
  }

  private func report(
    _ call: @escaping @Sendable (NetServiceBrowser, any NetServiceBrowserDelegate) -> Void
  ) {
    calls.post { [weak self] in
      guard let self, let delegate else { return }
      call(self, delegate)
    }
  }

  /// Looks for services. A browser runs one search at a time.
  ///
  /// - Parameters:
  ///   - type: The type, such as "_music._tcp.", and a subtype after a comma.
  ///   - domainString: The domain; empty for "local.".
  open func searchForServices(ofType type: String, inDomain domainString: String) {
    do {
      let (serviceType, subtypes) = try NetService.parse(type)
      let domain = domainString.isEmpty ? "local" : domainString
      let browser = ServiceBrowser(
        for: serviceType, subtype: subtypes.first,
        domain: domain.hasSuffix(".") ? String(domain.dropLast()) : domain,
        interfaces: BonjourNetwork.selection)
      search(browser.changes) { $0.handle($1, domain) }
    } catch { fail(error) }
  }

  private func handle(_ change: ServiceChange, _ domain: String) {
    let found = change.service
    switch change {
    case .added:
      let service = NetService(
        domain: domain, type: "\(found.type).", name: found.name)
      state.withLock { $0.found[found.id] = service }
      report { $1.netServiceBrowser($0, didFind: service, moreComing: false) }
    case .removed:
      guard let service = state.withLock({ $0.found.removeValue(forKey: found.id) }) else {
        return
      }
      report { $1.netServiceBrowser($0, didRemove: service, moreComing: false) }
    case .updated: break  // `NetService.startMonitoring` reports changes
    }
  }

  /// Looks for the domains in which to browse.
  open func searchForBrowsableDomains() { searchForDomains(.browsing) }

  /// Looks for the domains in which to publish.
  open func searchForRegistrationDomains() { searchForDomains(.registration) }

  private func searchForDomains(_ purpose: DomainPurpose) {
    let browser = DomainBrowser(purpose, interfaces: BonjourNetwork.selection)
    search(browser.changes) { browser, change in
      let name = change.item.name + "."
      switch change {
      case .added:
        browser.report { $1.netServiceBrowser($0, didFindDomain: name, moreComing: false) }
      case .removed:
        browser.report { $1.netServiceBrowser($0, didRemoveDomain: name, moreComing: false) }
      case .updated: break
      }
    }
  }

  private func search<Changes: AsyncSequence & Sendable>(
    _ changes: Changes,
    _ handle: @escaping @Sendable (NetServiceBrowser, Changes.Element) -> Void
  ) where Changes.Element: Sendable {
    let isFree = state.withLock { state in
      guard state.search == nil else { return false }
      state.search = Task { [weak self] in
        do {
          for try await change in changes {
            guard let self, !Task.isCancelled else { break }
            handle(self, change)
          }
        } catch {
          if !Task.isCancelled { self?.fail(error) }
        }
        self?.searchDidEnd()
      }
      return true
    }
    guard isFree else { return fail(DiscoveryError.tooManyQuestions) }
    report { $1.netServiceBrowserWillSearch($0) }
  }

  private func fail(_ error: any Error) {
    let dictionary = NetService.dictionary(error)
    report { $1.netServiceBrowser($0, didNotSearch: dictionary) }
  }

  private func searchDidEnd() {
    state.withLock { state in
      state.search = nil
      state.found = [:]
    }
    report { $1.netServiceBrowserDidStopSearch($0) }
  }

  /// Ends the search. Another one can begin once the delegate was told of its end.
  open func stop() { state.withLock { $0.search?.cancel() } }

  /// Does nothing: delegate calls come on a serial queue.
  public func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  /// Does nothing: delegate calls come on a serial queue.
  public func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
