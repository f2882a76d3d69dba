import Foundation
import MultipeerConnectivity
import TestEvents
import Testing

@testable import GameKit

/// Matches of several players in one process, over the loopback interface.
@Suite(.timeLimit(.minutes(1)), .serialized) struct GKMatchTests {
  /// Requests of a game that no other test plays.
  private func makeRequest(_ counts: ClosedRange<Int> = 2...2) -> GKMatchRequest {
    let request = GKMatchRequest()
    request.minPlayers = counts.lowerBound
    request.maxPlayers = counts.upperBound
    request.playerGroup = Int.random(in: 0..<Int.max)
    return request
  }

  private func makePlayers(_ names: String...) -> [TestPlayer] {
    MultipeerNetwork.interfaces = ["lo"]
    return names.map { TestPlayer(GKLocalPlayer(MCPeerID(displayName: $0))) }
  }

  /// Begins a match of all of these players, and returns each one's part in it.
  private func begin(
    _ players: [TestPlayer], _ request: GKMatchRequest
  ) async throws -> [TestMatch] {
    try await withThrowingTaskGroup(of: (Int, TestMatch).self) { tasks in
      for (index, player) in players.enumerated() {
        tasks.addTask { (index, try await player.findMatch(request)) }
      }
      let matches = try await tasks.reduce(into: []) { $0.append($1) }
      return matches.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  @Test func `two who look for a match play it, and data goes both ways`() async throws {
    let players = makePlayers("Ada", "Leo")
    let (ada, leo) = (players[0].player, players[1].player)
    let matches = try await begin(players, makeRequest())
    let (a, b) = (matches[0], matches[1])
    #expect(a.expectedAtFirst == 1)
    for match in matches { await match.waitUntilFull() }
    #expect(a.match.players == [leo])
    #expect(a.match.players.map(\.displayName) == ["Leo"])
    #expect(b.match.expectedPlayerCount == 0)
    try a.match.sendData(toAllPlayers: Data([1]), with: .reliable)
    try b.match.send(Data(), to: b.match.players, dataMode: .unreliable)
    await b.log.wait { $0 == .data(Data([1]), from: ada.gamePlayerID) }
    await a.log.wait { $0 == .data(Data(), from: leo.gamePlayerID) }
    #expect(throws: GKError(.invalidParameter)) {
      try a.match.sendData(toAllPlayers: Data(count: 65_536), with: .unreliable)
    }
    #expect(throws: GKError(.invalidPlayer)) {
      try a.match.send(
        Data(), to: [leo, GKPlayer(MCPeerID(displayName: "?"))], dataMode: .reliable)
    }
    b.match.disconnect()
    await a.log.wait { $0 == .state(leo.gamePlayerID, .disconnected) }
    #expect(a.match.players.isEmpty)
    #expect(throws: GKError(.matchNotConnected)) {
      try a.match.send(Data(), to: [leo], dataMode: .reliable)
    }
    #expect(!b.log.events.contains(.state(ada.gamePlayerID, .disconnected)))
  }

  @Test func `three play with each other, and a fourth one waits for the next match`() async throws
  {
    let players = makePlayers("Ada", "Leo", "Maya", "Tom", "Eve", "Kim")
    let request = makeRequest(3...3)
    let matches = try await begin(players, request)
    for match in matches { await match.waitUntilFull() }
    for (player, match) in zip(players, matches) {
      #expect(match.match.players.count == 2)
      for other in match.match.players {
        let theirs = matches[players.firstIndex { $0.player == other } ?? 0].match.players
        #expect(theirs.contains(player.player))
        #expect(theirs.allSatisfy { $0 == player.player || match.match.players.contains($0) })
      }
    }
  }

  @Test func `a search is cancelled, and there is one at a time`() async throws {
    let player = makePlayers("Ada")[0]
    let request = makeRequest()
    let (searching, matchmaker) = (Task { try await player.findMatch(request) }, player.matchmaker)
    while !matchmaker.isSearching { await Task.yield() }
    await #expect(throws: GKError(.matchRequestInvalid)) {
      try await matchmaker.findMatch(for: request)
    }
    matchmaker.cancel()
    let second = Task { try await player.findMatch(request) }
    await #expect(throws: GKError(.cancelled)) { try await searching.value }
    while !matchmaker.isSearching { await Task.yield() }
    second.cancel()
    await #expect(throws: GKError(.cancelled)) { try await second.value }
  }

  @Test func `a task that is cancelled beforehand finds no match`() async throws {
    let player = makePlayers("Ada")[0]
    let request = makeRequest()
    await #expect(throws: GKError(.cancelled)) {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.cancelAll()
        tasks.addTask { _ = try await player.matchmaker.findMatch(for: request) }
        try await tasks.waitForAll()
      }
    }
  }

  @Test func `a cancelled task does not end the search of another one`() async throws {
    let player = makePlayers("Ada")[0]
    let request = makeRequest()
    let searching = Task { try await player.findMatch(request) }
    while !player.matchmaker.isSearching { await Task.yield() }
    await #expect(throws: GKError(.matchRequestInvalid)) {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.cancelAll()
        tasks.addTask { _ = try await player.matchmaker.findMatch(for: request) }
        try await tasks.waitForAll()
      }
    }
    #expect(player.matchmaker.isSearching)
    searching.cancel()
    await #expect(throws: GKError(.cancelled)) { try await searching.value }
  }

  @Test func `data waits for the delegate, up to a limit`() async throws {
    let players = makePlayers("Ada", "Leo")
    let request = makeRequest()
    async let found = players[0].findMatch(request)
    async let other = players[1].matchmaker.findMatch(for: request)
    let (ada, leo) = try await (found, other)
    leo.core.heldLimit = 1000
    await ada.waitUntilFull()
    try ada.match.sendData(toAllPlayers: Data([1]), with: .reliable)
    try ada.match.sendData(toAllPlayers: Data(count: 800), with: .reliable)
    await ada.log.wait { $0 == .state(players[1].player.gamePlayerID, .disconnected) }
    let match = TestMatch(leo)
    await match.log.wait { $0 == .state(players[0].player.gamePlayerID, .disconnected) }
    let received = match.log.events.filter { if case .data = $0 { true } else { false } }
    #expect(received == [.data(Data([1]), from: players[0].player.gamePlayerID)])
  }

  @Test func `a player who asks again and again is answered once`() async throws {
    let players = makePlayers("Ada", "Leo")
    let matches = try await begin(players, makeRequest())
    for match in matches { await match.waitUntilFull() }
    let core = matches[0].match.core
    let waiting = await withCheckedContinuation { continuation in
      core.session.performOnDelegateQueue {
        core.choice = HostChoice(among: ["a player who does not answer"])
        for _ in 0..<10 { core.answer(players[1].player) }
        continuation.resume(returning: core.deciders.count)
      }
    }
    #expect(waiting == 1)
  }

  @Test(arguments: [(1, 2), (3, 2), (2, 17)])
  func `a request with impossible numbers is an error`(minimum: Int, maximum: Int) async throws {
    let request = GKMatchRequest()
    request.minPlayers = minimum
    request.maxPlayers = maximum
    let matchmaker = makePlayers("Ada")[0].matchmaker
    await #expect(throws: GKError(.matchRequestInvalid)) {
      try await matchmaker.findMatch(for: request)
    }
    #expect(GKMatchRequest.maxPlayersAllowedForMatch(of: .peerToPeer) == 16)
    #expect(GKMatchRequest.maxPlayersAllowedForMatch(of: .hosted) == 0)
  }

  @Test func `the same players play again`() async throws {
    let players = makePlayers("Ada", "Leo")
    let matches = try await begin(players, makeRequest())
    for match in matches { await match.waitUntilFull() }
    async let first = TestMatch(matches[0].match.rematch())
    async let second = TestMatch(matches[1].match.rematch())
    let again = try await [first, second]
    for match in again { await match.waitUntilFull() }
    #expect(again[0].match.players == [players[1].player])
    #expect(again[0].match.core.name != matches[0].match.core.name)
  }

  @Test func `a lost player comes back if both want it`() async throws {
    let players = makePlayers("Ada", "Leo")
    let matches = try await begin(players, makeRequest())
    for match in matches {
      await match.waitUntilFull()
      match.invitesAgain.withLock { $0 = true }
    }
    matches[0].match.core.session.disconnect()
    for (match, other) in zip(matches, players.reversed()) {
      let key = other.player.gamePlayerID
      await match.log.wait { $0 == .state(key, .disconnected) }
      await match.log.wait { $0 == .state(key, .connected) }
      #expect(match.match.players == [other.player])
    }
    try matches[0].match.sendData(toAllPlayers: Data([5]), with: .reliable)
    let key = players[0].player.gamePlayerID
    await matches[1].log.wait { $0 == .data(Data([5]), from: key) }
  }

  @Test func `a player who does not come back in time is an error`() async throws {
    let players = makePlayers("Ada", "Leo")
    let matches = try await begin(players, makeRequest())
    for match in matches { await match.waitUntilFull() }
    matches[0].match.core.returnTime = .milliseconds(200)
    matches[0].invitesAgain.withLock { $0 = true }
    matches[1].match.disconnect()
    await matches[0].log.wait { $0 == .failed(.connectionTimeout) }
    #expect(matches[0].match.players.isEmpty)
  }

  @Test func `all who ask get the same best host`() async throws {
    let players = makePlayers("Ada", "Leo", "Maya")
    let matches = try await begin(players, makeRequest(3...3))
    for match in matches { await match.waitUntilFull() }
    var host: GKPlayer?
    while host == nil { host = await matches[0].match.chooseBestHostingPlayer() }
    #expect(players.map(\.player).contains { $0 == host })
    for match in matches { #expect(await match.match.chooseBestHostingPlayer() == host) }
  }

  @Test func `a question for the best host is answered, also if the player who chooses is silent`()
    async throws
  {
    let matches = try await begin(makePlayers("Ada", "Leo"), makeRequest(2...2))
    for match in matches { await match.waitUntilFull() }
    let cores = matches.map(\.match.core).sorted { $0.local.key < $1.local.key }
    cores[0].session.delegate = nil
    cores[1].hostAnswerTime = .milliseconds(100)
    for match in matches where match.match.core === cores[1] {
      #expect(await match.match.chooseBestHostingPlayer() == nil)
      match.match.disconnect()
      #expect(await match.match.chooseBestHostingPlayer() == nil)
    }
  }

  @Test func `players nearby are seen while they look`() async throws {
    let players = makePlayers("Ada", "Leo")
    GameKitSettings.gameIdentifier = "a game \(UInt64.random(in: .min ... .max))"
    let log = EventLog<String>()
    players[0].matchmaker.startBrowsingForNearbyPlayers { player, isReachable in
      log.add("\(player.alias) \(isReachable)")
    }
    players[1].matchmaker.startBrowsingForNearbyPlayers()
    await log.wait { $0 == "Leo true" }
    players[1].matchmaker.stopBrowsingForNearbyPlayers()
    await log.wait { $0 == "Leo false" }
    players[0].matchmaker.stopBrowsingForNearbyPlayers()
    #expect(log.events == ["Leo true", "Leo false"])
  }

  @Test func `the codes and raw values of matches are those of Apple's framework`() {
    #expect(GKError.Code.allCases.map(\.rawValue) == [1, 2, 3, 8, 13, 17, 28, 33])
    #expect(GKPlayerConnectionState.unknown.rawValue == 0)
    #expect(GKPlayerConnectionState.connected.rawValue == 1)
    #expect(GKPlayerConnectionState.disconnected.rawValue == 2)
    #expect(GKMatch.SendDataMode.unreliable.rawValue == 1)
    #expect(!GKError(.cancelled).localizedDescription.isEmpty)
    #expect(!GKLocalPlayer(MCPeerID(displayName: "Ada")).scopedIDsArePersistent())
  }
}
