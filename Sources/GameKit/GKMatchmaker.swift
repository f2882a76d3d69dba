import CaromTransport
import Foundation
import MultipeerConnectivity

/// Finds players on the local network, and makes matches of them.
open class GKMatchmaker: NSObject,
  @unchecked Sendable  // what changes is locked
{
  private struct State: Sendable {
    var search: MatchSearch?
    var nearby: NearbyPlayers?
  }

  /// The completion handler of a search.
  private struct Handler: @unchecked Sendable {  // called once, on the delegate's queue
    let body: ((GKMatch?, (any Error)?) -> Void)?
  }

  private static let sharedMatchmaker = GKMatchmaker(GKLocalPlayer.local)

  private let player: GKLocalPlayer
  private let state = Locked(State())

  init(_ player: GKLocalPlayer) { self.player = player }

  /// The matchmaker of this process's player.
  open class func shared() -> GKMatchmaker { sharedMatchmaker }

  /// Whether a search is under way.
  var isSearching: Bool { state.withLock { $0.search != nil } }

  /// Finds a match with other players who look for the same one.
  ///
  /// - Parameters:
  ///   - request: What is looked for.
  ///   - completionHandler: Called once, on the queue of the delegates: with the match, whose
  ///     players connect after the handler has returned, or with a `GKError`.
  ///     `matchRequestInvalid` also means that a search is under way already.
  open func findMatch(
    for request: GKMatchRequest,
    withCompletionHandler completionHandler: ((GKMatch?, (any Error)?) -> Void)? = nil
  ) {
    search(for: request, completionHandler)
  }

  @discardableResult
  fileprivate func search(
    for request: GKMatchRequest, _ completionHandler: ((GKMatch?, (any Error)?) -> Void)?
  ) -> MatchSearch? {
    guard let counts = request.counts else {
      let reason = "a match has 2 to 16 players, and maxPlayers is not less than minPlayers"
      refuse(reason, Handler(body: completionHandler))
      return nil
    }
    let recipients = request.recipients.map { Set($0.map(\.key)) }
    return search(
      MatchSearch.Criteria(text: request.criteria, counts: counts, recipients: recipients),
      completionHandler)
  }

  /// Begins a search. Returns nil, and refuses the request, if another one is under way.
  @discardableResult
  func search(
    _ criteria: MatchSearch.Criteria, _ completionHandler: ((GKMatch?, (any Error)?) -> Void)?
  ) -> MatchSearch? {
    let handler = Handler(body: completionHandler)
    let search = MatchSearch(criteria, by: player) { [self] search, result in
      finish(search, result, handler)
    }
    let isFirst = state.withLock { state in
      guard state.search == nil else { return false }
      state.search = search
      return true
    }
    guard isFirst else {
      refuse("a search is under way: cancel it first", handler)
      return nil
    }
    search.session.performOnDelegateQueue { search.begin() }
    return search
  }

  private func refuse(_ reason: String, _ handler: Handler) {
    MCSession(peer: player.peerID).performOnDelegateQueue {
      handler.body?(nil, GKError(.matchRequestInvalid, reason: reason))
    }
  }

  private func finish(
    _ search: MatchSearch, _ result: Result<MatchCore, GKError>, _ handler: Handler
  ) {
    state.withLock { state in
      if state.search === search { state.search = nil }
    }
    switch result {
    case .success(let core):
      let match = GKMatch(core, of: self)
      handler.body?(match, nil)
      core.begin()
    case .failure(let error): handler.body?(nil, error)
    }
  }

  /// Ends the search. Its handler is called with `GKError.cancelled`. Another search can begin at
  /// once.
  open func cancel() {
    if let search = state.withLock({ $0.search }) { cancel(search) }
  }

  /// Ends this search, unless it has ended already.
  fileprivate func cancel(_ search: MatchSearch) {
    state.withLock { state in
      if state.search === search { state.search = nil }
    }
    search.session.performOnDelegateQueue { search.cancel() }
  }

  /// Does nothing: nobody joins a match after it has begun.
  open func finishMatchmaking(for match: GKMatch) {}

  // MARK: Players nearby

  /// Makes this player visible to the others on the local network who do the same in the same game,
  /// and reports them.
  ///
  /// - Parameter reachableHandler: Called on the queue of the delegates, with a player and whether
  ///   the player is there. A second call of this method replaces the handler.
  open func startBrowsingForNearbyPlayers(
    handler reachableHandler: ((GKPlayer, Bool) -> Void)? = nil
  ) {
    let nearby = NearbyPlayers(player, reachableHandler)
    state.withLock { state in
      state.nearby?.stop()
      state.nearby = nearby
    }
    nearby.start()
  }

  /// Makes this player invisible again.
  open func stopBrowsingForNearbyPlayers() {
    state.withLock { state in
      state.nearby?.stop()
      state.nearby = nil
    }
  }
}

extension GKMatchmaker {
  /// Finds a match, as the method with a completion handler does. If the task is cancelled, its
  /// search ends with `GKError.cancelled`.
  public func findMatch(for request: GKMatchRequest) async throws -> GKMatch {
    let own = Locked<MatchSearch?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let search = search(for: request) { match, error in
          if let match { return continuation.resume(returning: match) }
          continuation.resume(throwing: error ?? GKError(.unknown))
        }
        own.withLock { $0 = search }
        // The task may have been cancelled before there was a search.
        if Task.isCancelled, let search { cancel(search) }
      }
    } onCancel: {
      if let search = own.withLock({ $0 }) { cancel(search) }
    }
  }
}

/// The players that are visible while they look for others of the same game.
final class NearbyPlayers: NSObject,
  @unchecked Sendable  // the handler and the set are used on the queue of delegate calls alone
{
  private let info: [String: String]?
  private let handler: ((GKPlayer, Bool) -> Void)?
  private let advertiser: MCNearbyServiceAdvertiser
  private let browser: MCNearbyServiceBrowser
  private var visible: Set<MCPeerID> = []

  init(_ player: GKLocalPlayer, _ handler: ((GKPlayer, Bool) -> Void)?) {
    let text = "nearby \(GameKitSettings.gameIdentifier)"
    let type = PlayerMeeting.serviceType(of: text)
    info = GKSession.info(of: text)
    self.handler = handler
    advertiser = MCNearbyServiceAdvertiser(
      peer: player.peerID, discoveryInfo: info, serviceType: type)
    browser = MCNearbyServiceBrowser(peer: player.peerID, serviceType: type)
    super.init()
    browser.delegate = self
  }

  func start() {
    advertiser.startAdvertisingPeer()
    browser.startBrowsingForPeers()
  }

  func stop() {
    browser.delegate = nil
    advertiser.stopAdvertisingPeer()
    browser.stopBrowsingForPeers()
  }
}

extension NearbyPlayers: MCNearbyServiceBrowserDelegate {
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) {
    guard info == self.info, visible.insert(peerID).inserted else { return }
    handler?(GKPlayer(peerID), true)
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    if visible.remove(peerID) != nil { handler?(GKPlayer(peerID), false) }
  }
}
