/// Measures Carom's reaction to faults of a network: name conflicts, unplugged cables, crashes and
/// floods.
struct DiscoveryFaults: Sendable {
  let stack: NetworkLab.Stack

  private typealias Subject = DiscoveryCaromSubject

  private func prepare(_ lab: NetworkLab, _ hosts: String...) async throws -> [Subject] {
    var subjects: [Subject] = []
    for host in hosts {
      subjects.append(Subject(in: lab, host: host))
      try await subjects[subjects.count - 1].prepare()
    }
    return subjects
  }

  private func established(_ subject: Subject, _ name: String) async throws -> Double {
    let line = await (try subject.program).line { $0.hasSuffix(" established \(name)") }
    guard let time = line?.text.split(separator: " ").first.flatMap({ Double($0) }) else {
      throw BenchmarkFailure("'\(name)' was not established in time; run again on a quiet machine")
    }
    return time
  }

  /// Measures the times, in milliseconds, from publishing a service under a guaranteed unique name
  /// until a browser resolves it.
  func unique() async throws -> [Double] {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      let sighting = try await subjects[1].browse()
      // Wait until the queries at 0, 1 and 3 s are over.
      try await Task.sleep(for: .milliseconds(3_500))
      var times: [Double] = []
      for number in 1...5 {
        let name = "Table \(number)"
        let begin = try await subjects[0].ask("unique\t\(name)\t\(DiscoveryPair.type)", "publish")
        times.append(await sighting.time(of: .resolved, name, since: begin))
        try await Task.sleep(for: .milliseconds(100))
      }
      return times
    }
  }

  /// Measures the time, in milliseconds, from publishing a name that another host has until the
  /// service is established under a new name.
  func conflict() async throws -> Double {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("X")
      _ = try await established(subjects[0], "X")
      try await Task.sleep(for: .seconds(2))
      let begin = try await subjects[1].publish("X")
      return try await established(subjects[1], "X (2)") - begin
    }
  }

  /// Measures the time, in milliseconds, from the first packet that crosses two newly joined
  /// segments until a service is renamed. A third host asks the question, because the two hosts
  /// know the name from their own segment and do not ask.
  func split() async throws -> Double {
    try await NetworkLab.with(hosts: 3, stack) { lab in
      try await lab.change("attach", "h2", "1")
      try await lab.change("detach", "h2", "0")
      let subjects = try await prepare(lab, "h1", "h2", "h3")
      for subject in subjects.prefix(2) {
        _ = try await subject.publish("X")
        _ = try await established(subject, "X")
      }
      try await Task.sleep(for: .seconds(2))
      let capture = try await lab.capture(bridge: 1)
      let joined = try await lab.change("join", "0", "1")
      _ = try await subjects[2].browse()
      let renamed = await earliestLine(of: subjects, " renamed X (2)")
      guard let renamed,
        let crossing = await capture.frame(
          from: joined, within: .seconds(5), where: { $0.host != 2 })
      else { return .nan }
      return renamed - crossing.time
    }
  }

  private func earliestLine(of subjects: [Subject], _ end: String) async -> Double? {
    await withTaskGroup(of: Double?.self) { group in
      for subject in subjects {
        group.addTask {
          let line = await (try? subject.program)?.line { $0.hasSuffix(end) }
          return line?.text.split(separator: " ").first.flatMap { Double($0) }
        }
      }
      for await time in group {
        if let time { return time }
      }
      return nil
    }
  }

  /// Measures the time, in milliseconds, from the request to reconfirm a service, whose process was
  /// killed, until it is removed.
  func crash() async throws -> Double {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Crashed")
      let sighting = try await subjects[1].browse()
      guard await sighting.time(of: .resolved, "Crashed") != nil else { return .nan }
      try subjects[0].program.send("crash")
      try await Task.sleep(for: .seconds(1))
      let begin = try await subjects[1].ask("reconfirm\tCrashed", "reconfirm")
      return await sighting.time(of: .removed, "Crashed", since: begin, within: .seconds(20))
    }
  }

  /// Withdraws a service and publishes it again at once. Returns 1 if a browser reports the
  /// removal, or 0 if it does not.
  func again() async throws -> Double {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Back")
      let sighting = try await subjects[1].browse()
      guard await sighting.time(of: .resolved, "Back") != nil else { return .nan }
      try await Task.sleep(for: .seconds(2))
      _ = try await subjects[0].withdraw()
      _ = try await subjects[0].publish("Back")
      let removed = await sighting.time(of: .removed, "Back", within: .seconds(3))
      return removed == nil ? 0 : 1
    }
  }
}

// MARK: - Changes of the network

extension DiscoveryFaults {
  /// The times from the system's notice of each change on the publisher's host until the next
  /// announcement, in milliseconds.
  struct Changes: Sendable {
    var cable: Double
    var address: Double
    var interface: Double
  }

  /// Changes the network of the publisher's host: its cable, its addresses and its interfaces.
  func changes() async throws -> Changes {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Moved")
      _ = try await established(subjects[0], "Moved")
      try await lab.change("attach", "h2", "1")
      let capture = try await lab.capture()
      let other = try await lab.capture(bridge: 1)
      let monitor = try lab.startUntilInputEnds(
        "h1", ["stdbuf", "-oL", "ip", "-o", "monitor", "link", "address"])
      try await Task.sleep(for: .seconds(2))
      try await lab.change("cut", "h1")
      try await Task.sleep(for: .milliseconds(500))
      var first = monitor.count
      try await lab.change("heal", "h1")
      let cable = await announcement(in: capture, after: monitor, first, "LOWER_UP")
      try await Task.sleep(for: .milliseconds(1_500))
      first = monitor.count
      _ = try lab.start("h1", ["ip", "addr", "add", "10.77.0.201/24", "dev", "eth0"])
      let address = await announcement(in: capture, after: monitor, first, "10.77.0.201")
      first = monitor.count
      try await lab.change("attach", "h1", "1")
      let interface = await announcement(in: other, after: monitor, first, "10.77.1.1")
      return Changes(cable: cable, address: address, interface: interface)
    }
  }

  private func announcement(
    in capture: DiscoveryCapture, after monitor: ChildProgram, _ first: Int, _ sign: String
  ) async -> Double {
    guard let event = await monitor.line(from: first, where: { $0.contains(sign) }) else {
      return .nan
    }
    let frame = await capture.frame(from: event.time, within: .seconds(5)) {
      $0.host == 1 && $0.kind == .response && $0.isMulticast && $0.answers >= 3
    }
    return frame.map { $0.time - event.time } ?? .nan
  }

  /// Unplugs the cable of the browser's host and plugs it in again. Returns the time from the
  /// unplugging until the service is removed, and from the plugging until it is resolved, in
  /// milliseconds.
  func browserCable() async throws -> (out: Double, back: Double) {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Far")
      var sighting = try await subjects[1].browse()
      guard await sighting.time(of: .resolved, "Far") != nil else { return (.nan, .nan) }
      try await Task.sleep(for: .seconds(2))
      let cut = try await lab.change("cut", "h2")
      let out = await sighting.time(of: .removed, "Far", since: cut)
      sighting.first = sighting.program.count
      let healed = try await lab.change("heal", "h2")
      return (out, await sighting.time(of: .resolved, "Far", since: healed))
    }
  }

  /// The effect of 60,000 unsolicited records on a running browser.
  struct Flooded: Sendable {
    var browser: String
    /// The milliseconds from publishing a service after the flood until the browser finds it.
    var found = Double.nan
    /// The growth of the browser's memory in kilobytes, or `nan` if it is not known.
    var growth = Double.nan
  }

  /// Floods the browsers with `count` records: junk, or fake services of the browsed type.
  func flood(
    _ count: Int, fakes: Bool, browsers: [any DiscoverySubject.Type]
  ) async throws -> [Flooded] {
    try await NetworkLab.with(hosts: browsers.count + 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      var sightings: [(any DiscoverySubject, DiscoverySighting)] = []
      for (index, browser) in browsers.enumerated() {
        let subject = browser.init(in: lab, host: "h\(index + 3)")
        try await subject.prepare()
        if let carom = subject as? DiscoveryCaromSubject {
          sightings.append((subject, try await carom.watch()))
        } else {
          sightings.append((subject, try await subject.browse()))
        }
      }
      try await Task.sleep(for: .seconds(2))
      let before = try await usage(of: sightings.map(\.0))
      let words = "flood\t\(count)" + (fakes ? "\t\(DiscoveryPair.type)" : "")
      _ = try await subjects[1].ask(words, "flooded", within: .seconds(60))
      let begin = try await subjects[0].publish("Fresh")
      var outcomes: [Flooded] = []
      for (index, (_, sighting)) in sightings.enumerated() {
        let found = await sighting.time(of: .found, "Fresh", since: begin, within: .seconds(5))
        outcomes.append(Flooded(browser: browsers[index].name, found: found))
      }
      let after = try await usage(of: sightings.map(\.0))
      for index in outcomes.indices { outcomes[index].growth = after[index] - before[index] }
      return outcomes
    }
  }

  private func usage(of subjects: [any DiscoverySubject]) async throws -> [Double] {
    var values: [Double] = []
    for subject in subjects {
      values.append(try await (subject as? DiscoveryCaromSubject)?.usage().kilobytes ?? .nan)
    }
    return values
  }
}
