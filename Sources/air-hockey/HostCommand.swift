import AirHockey
import ArgumentParser
import Carom
import CaromFleet
import CaromPlacement
import Foundation

/// Hosts matches until the user quits.
struct HostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host", abstract: "Open a table and keep it open for new opponents.")

  /// The maximum number of spectators.
  static let spectatorLimit = 32

  @OptionGroup var options: PlayOptions
  @OptionGroup var net: NetOptions
  @Option(parsing: .unconditional, help: "The port to listen on; 0 lets the system choose.")
  var port = 0
  @Option(
    name: .customLong("players"), parsing: .unconditional,
    help: """
      How many players can join: 1 (the default) plays against this computer's player; 2 play \
      against each other, and a computer player takes a seat that is free.
      """)
  var clients = 1
  @Option(
    parsing: .unconditional,
    help: """
      The number of tables, up to \(TableOption.limit). With more than one, the page of --browser \
      or --browser-tls shows a lobby in which people choose a table, and two players meet at each, \
      as with --players 2.
      """)
  var tables = 1
  @Flag(
    help: "Start a computer opponent in a second process; it yields its seat to a person.")
  var opponent = false
  @Flag(help: "Do not advertise the table: players join by HOST:PORT.") var unlisted = false
  @Option(parsing: .unconditional, help: "End after this number of complete games.") var games: Int?
  @Flag(
    help: """
      Let browsers join, too: serve the game's page on the table's port, and show its address. \
      Without TLS, pages do not encrypt, so this needs --security none.
      """)
  var browser = false
  @Option(
    name: .customLong("browser-tls"), parsing: .upToNextOption,
    help: ArgumentHelp(
      """
      The same over TLS, with the certificate and the key in these two files. The address that is \
      shown has the join code of --code.
      """, valueName: "cert> <key"))
  var browserTLS: [String] = []
  @Flag(
    help: """
      Run for weeks, as in an exhibit: answer /health, /ready, /metrics and /roster on the table's \
      port, and end a match on SIGTERM with its score. Needs --browser, --browser-tls or --fleet.
      """)
  var kiosk = false
  @Option(help: "The folder with the page for browsers, as 'make wasm' builds it.")
  var page: String?
  @OptionGroup var fleet: FleetPlayOptions
  @Option(
    help: "The region of this table in its fleet, such as eu-west: visible ASCII characters.")
  var region = FleetTable.anyRegion
  @OptionGroup var advertised: AdvertiseOptions

  mutating func validate() throws {
    try PortRange.check(port)
    if let games, games < 1 {
      throw ValidationError("--games must be a whole number, 1 or more.")
    }
    try fleet.check(net.protection, isHost: true)
    try advertised.check(isInFleet: fleet.fleet != nil)
    try checkTables()
    try checkFleet()
    try checkClients()
    if opponent, [.code, .known, .token].contains(net.protection.policy) {
      throw ValidationError("--opponent has no code, known key or token: leave it out.")
    }
    try checkBrowser()
    if options.headless, net.protection.code?.isEmpty == true {
      throw ValidationError("--headless shows no code: give one with --code CODE.")
    }
  }

  /// At a table of a fleet, two clients play each other, and the fleet alone leads them there.
  private mutating func checkFleet() throws {
    guard FleetText.isValid(region) else {
      throw ValidationError("--region must have 1 to 63 visible ASCII characters.")
    }
    guard fleet.fleet != nil else { return }
    if browser || opponent || games != nil {
      throw ValidationError("--fleet cannot be combined with --browser, --opponent or --games.")
    }
    (clients, unlisted) = (2, true)
  }

  /// At one of several tables, two clients play each other, until the host is stopped.
  private mutating func checkTables() throws {
    guard (1...TableOption.limit).contains(tables) else {
      throw ValidationError("--tables must be a whole number from 1 to \(TableOption.limit).")
    }
    guard tables > 1 else { return }
    if fleet.fleet != nil {
      throw ValidationError("A host of a fleet has one table: leave --tables out.")
    }
    guard takesBrowsers else {
      throw ValidationError(
        "--tables needs a page with a lobby: add --browser or --browser-tls CERT KEY.")
    }
    if opponent || options.bot {
      throw ValidationError(
        "Each of several tables has its own computer player: leave --opponent and --bot out.")
    }
    if games != nil || options.seconds != nil || options.record != nil {
      throw ValidationError(
        """
        A host with several tables runs until it is stopped, and records nothing: leave --games, \
        --seconds and --record out.
        """)
    }
    clients = TableSeating.playersPerTable
  }

  private func checkClients() throws {
    guard clients != 1 else { return }
    guard clients == 2 else { throw ValidationError("--players must be 1 or 2.") }
    if options.bot {
      throw ValidationError("--bot plays a seat that --players 2 leaves to others: leave it out.")
    }
    if opponent {
      throw ValidationError("--players 2 has its own computer player: leave --opponent out.")
    }
  }

  private func checkBrowser() throws {
    guard takesBrowsers else {
      if page != nil {
        throw ValidationError("--page FOLDER needs --browser or --browser-tls CERT KEY.")
      }
      return try checkKiosk()
    }
    try browserTLS.isEmpty ? checkPlaintext() : checkTLS()
    guard net.kinds.contains(.stream) else {
      throw ValidationError(
        """
        Browsers join over TCP: --browser and --browser-tls cannot be combined with \
        --transport udp or --conditions.
        """)
    }
  }

  /// At a table of a fleet, a kiosk answers monitors alone.
  private func checkKiosk() throws {
    guard kiosk else { return }
    guard fleet.fleet != nil else {
      throw ValidationError(
        "--kiosk answers over HTTP, which needs --browser, --browser-tls CERT KEY or --fleet.")
    }
    guard net.kinds.contains(.stream) else {
      throw ValidationError(
        "--kiosk answers over TCP: it cannot be combined with --transport udp or --conditions.")
    }
  }

  /// Whether browsers can join.
  private var takesBrowsers: Bool { browser || !browserTLS.isEmpty }

  private func checkPlaintext() throws {
    guard net.protection.policy == .none else {
      throw ValidationError(
        """
        --browser also needs --security none: without TLS, pages do not encrypt, so everybody on \
        the network could read and change the match. With a certificate, use --browser-tls CERT KEY.
        """)
    }
  }

  private func checkTLS() throws {
    guard browserTLS.count == 2 else {
      throw ValidationError("--browser-tls needs two files, the certificate and its key.")
    }
    guard !browser else {
      throw ValidationError("--browser-tls serves the page by itself: leave --browser out.")
    }
    guard ![.known, .token].contains(net.protection.policy) else {
      throw ValidationError("A page has no key and no token: use --security anyone, code or none.")
    }
  }

  private func loadCertificate() throws(CommandFailure) -> TLSCertificate? {
    guard browserTLS.count == 2 else { return nil }
    do throws(TLSCertificateError) {
      return try TLSCertificate(certificateFile: browserTLS[0], keyFile: browserTLS[1])
    } catch { throw CommandFailure(.ioFailed, error.description) }
  }

  func run() async throws {
    var setup = options.setup(try options.playerName(), net)
    setup.gameLimit = games
    setup.clients = clients
    setup.kiosk = kiosk ? Kiosk() : nil
    setup.health = setup.kiosk?.health
    setup.agones = try .ofProcess()
    if clients == 2 { setup.waiting = "waiting for two players" }
    // A client that comes wakes its table, and the screen of a host with several changes slowly.
    if tables > 1 { setup.waitingFrame = .milliseconds(100) }
    let protection = try net.protection.load(makesCode: true)
    setup.policy = protection.security.policy
    setup.notice = protection.notice
    let certificate = try loadCertificate()
    let page = takesBrowsers ? try GamePage(path: page, certificate: certificate) : nil
    let table = try fleetTable(protection.security)
    let playing = setup
    try await options.playOverNetwork(playing) { loop, game in
      try await host(game, protection, page, table, on: loop)
    }
  }

  /// The table in its fleet; nil if it is in none.
  private func fleetTable(_ security: SessionSecurity) throws(CommandFailure) -> FleetTable? {
    guard let address = try fleet.address(), let identity = security.identity else { return nil }
    return FleetTable(
      address: address, region: region, keys: try net.protection.loadBackendKeys(),
      identity: identity)
  }

  private func host(
    _ game: NetGame, _ protection: Protection, _ page: GamePage?, _ table: FleetTable?,
    on loop: NetworkLoop
  ) async throws {
    let security = protection.security
    let gate = FleetGate(takesOneMatch: true)
    let local = net.peer(game.setup.name)
    let listing = TableListing(interfaces: net.interfaces, on: loop)
    let hall = await makeHall(for: game)
    var browsers = page?.options ?? BrowserOptions()
    browsers.resources = resources(of: game, hall, gate: table == nil ? nil : gate)
    do {
      let addresses = try await listing.open(isListed: !unlisted)
      try await Session.host(
        as: local, port: UInt16(port), on: addresses,
        over: page == nil && !kiosk ? net.kinds : net.kinds.union(.webSocket),
        seats: sessionSeats.players,
        spectatorSeats: table == nil ? sessionSeats.spectators : 0, timing: net.timing,
        security: security, browsers: browsers,
        // The proxy may keep the bytes, or remove them.
        routing: SessionRouting(received: advertised.routing), conditions: net.conditions,
        loop: loop,
        admit: { info in
          if table != nil { return gate.admit(info) }
          return hall?.admit(info) ?? Self.admit(info)
        }
      ) { session, port in
        try await hall?.open(over: session) { listing.update(freeSeats: $0) }
        let places =
          try page.map {
            try browserAddresses(of: $0, code: protection.code, port: port)
          } ?? []
        let notice = places.isEmpty ? "" : ", in a browser \(places.joined(separator: " or "))"
        let code = places.first.flatMap(GamePage.makeCode)
        try await listing.begin(
          as: session.node.local, key: session.node.publicKey, port: port,
          freeSeats: clients * tables
        ) { [isUnseen = kiosk && options.headless] line in
          game.announce(line + notice, code: code)
          // Who looks after an exhibit reads the address in its log.
          if isUnseen { LineDisplay(output: .standardError).write(line + notice) }
        }
        let companion =
          opponent
          ? Companion(
            strength: options.strength, transport: net.transport, policy: security.policy) : nil
        companion?.start(port: port)
        // Cancelled at the end of this closure.
        async let _: Void = report(session, for: game.setup.kiosk)
        let agones = await game.report(session, seats: clients * tables)
        let matches = try await join(table, gate, session, port: port, game, agones)
        await game.play(over: session, isHost: true) { freeSeats in
          listing.update(freeSeats: freeSeats)
          if freeSeats > 0 { companion?.start(port: port) }
        }
        await matches?.withdraw()
        await agones?.shutdown()
        await listing.close()
        companion?.stop()
      }
    } catch {
      await listing.close()
      throw error
    }
  }

  /// The numbers of seats of the session. With several tables, there is one more than the tables
  /// have, so that everybody who asks for a seat is told why there is none.
  private var sessionSeats: (players: Int, spectators: Int) {
    guard tables > 1 else { return (clients, Self.spectatorLimit) }
    return (clients * tables + 1, Self.spectatorLimit * tables + 1)
  }

  /// Decides whether a client is let in at a host with one table.
  private static func admit(_ info: PeerInfo) -> Admission {
    guard info.match > 1 else { return .accept }
    return .decline(TableSeating.Refusal.noSuchTable(Int(info.match), of: 1).description)
  }

  /// Makes the hall of a host with several tables, whose screen `game` shows.
  private func makeHall(for game: NetGame) async -> TableHall? {
    guard tables > 1 else { return nil }
    let hall = TableHall(tables: tables, front: game)
    await game.becomeFront(of: hall)
    return hall
  }

  /// Returns what the host answers over HTTP, beside the page.
  private func resources(
    of game: NetGame, _ hall: TableHall?, gate: FleetGate?
  ) -> [String: @Sendable () -> BrowserOptions.Page] {
    var resources = game.setup.kiosk?.resources(of: game, hall, gate: gate) ?? [:]
    if let hall { resources["/tables"] = { hall.assumeIsolated { $0.roster.page } } }
    return resources
  }

  /// Joins the fleet of the table, if it has one.
  private func join(
    _ table: FleetTable?, _ gate: FleetGate, _ session: Session, port: UInt16, _ game: NetGame,
    _ agones: AgonesReporter?
  ) async throws -> FleetMatches? {
    guard let table else { return nil }
    let interfaces = net.interfaces.selected(from: try Interfaces.list())
    let endpoints = try await advertised.findEndpoints(game.setup.agones, on: session.loop)
    let record =
      endpoints.isEmpty
      ? try table.record(on: interfaces, port: port)
      : table.record(at: endpoints, routing: advertised.routing)
    let membership = FleetMembership(
      of: record, in: table.address, keys: table.keys, on: session.loop)
    let matches = FleetMatches(
      of: membership, over: session, gate: gate, key: table.keys[0]
    ) { event in
      game.assumeIsolated { game in
        game.handle(event)
        game.reportMatches(to: agones)
      }
    }
    await game.becomeFleetHost(matches, patience: fleet.patience.map { .seconds($0) })
    await matches.begin()
    return matches
  }

  /// Reports the metrics of a session until it ends, if a kiosk shows them.
  private func report(_ session: Session, for kiosk: Kiosk?) async {
    guard let kiosk else { return }
    await session.report(to: kiosk.metrics, every: Kiosk.reportInterval)
  }

  /// Returns the addresses at which browsers find the table.
  private func browserAddresses(
    of page: GamePage, code: JoinCode?, port: UInt16
  ) throws -> [String] {
    GamePage.addresses(
      on: net.interfaces.selected(from: try Interfaces.list()), port: port,
      certificate: page.options.encryption?.certificate, code: code)
  }
}
