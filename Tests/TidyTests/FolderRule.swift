/// The folders inside the modules: which there are, how many files one may hold, and which way they
/// depend on each other.
///
/// A folder uses the types of its own and of the folders before it in the list. Files directly in
/// the module's folder come last: they may use everything.
enum FolderRule {
  /// The most files in one folder; a reader finds no file in a longer list.
  static let fileLimit = 40

  static let order: [String: [String]] = [
    "air-hockey": ["Support"],
    "CaromCrypto": ["Primitives", "Noise", "Identity", "Access"],
    "CaromDataChannel": ["Support", "STUN", "SCTP"],
    "CaromDNS": [
      "Message", "Link", "Service", "Cache", "Responder", "Querier", "Update", "Unicast", "Domain",
    ],
    "CaromDiscovery": ["Values", "Streams", "Sockets", "Unicast", "Core", "Client"],
    "CaromFleet": ["Agones"],
    "CaromGroup": ["Replica", "Transfers", "Streams"],
    "CaromNearby": ["Files", "Streams", "Groups"],
    "CaromPlacement": ["Values", "Directory", "Machines", "Redis", "Agones"],
    "CaromProtocol": [
      "Wire", "Security", "Recovery", "Channels", "Connection", "Host", "Matchmaking",
    ],
    "CaromSession": [
      "Queues", "Channels", "Security", "Browsers", "Node", "Session", "Ticks", "Matches",
    ],
    "CaromSimulation": [
      "Time", "Game", "Determinism", "Inputs", "Rollback", "Prediction", "Interpolation", "Replay",
      "Coding", "Snapshots", "World",
    ],
    "CaromTesting": ["Support", "Hosts", "Conditions", "Trace", "Links", "Network", "World"],
    "carom-tool": ["Support", "Transfers", "Fleet"],
    "CaromTransport": ["Errors", "Files", "Loop", "UDP", "Web", "TCP", "Interfaces"],
  ]

  /// Files in folders that the list does not have, folders with too many files, and mentions of
  /// types that stand in a later folder.
  static func violations(in files: [SourceFile]) -> [String] {
    let sources = files.filter { $0.module != nil }
    return crowded(files)
      + Dictionary(grouping: sources) { $0.module ?? "" }
      .sorted { $0.key < $1.key }
      .flatMap { misplaced(in: $0.key, $0.value) + arrows(in: $0.key, $0.value) }
  }

  private static func crowded(_ files: [SourceFile]) -> [String] {
    let folders = Dictionary(grouping: files) { file in
      file.path.split(separator: "/").dropLast().joined(separator: "/")
    }
    return folders.filter { $0.value.count > fileLimit }
      .map { "\($0.key): \($0.value.count) files, over \(fileLimit)" }.sorted()
  }

  private static func misplaced(in module: String, _ files: [SourceFile]) -> [String] {
    files.filter { !$0.room.isEmpty && !order[module, default: []].contains($0.room) }
      .map { $0.complaint(0, "\(module) has no folder \($0.room) in the plan") }
  }

  private static func arrows(in module: String, _ files: [SourceFile]) -> [String] {
    guard let folders = order[module] else { return [] }
    func rank(_ file: SourceFile) -> Int { folders.firstIndex(of: file.room) ?? folders.count }
    var owners: [Substring: Int] = [:]
    let words = files.map(Identifiers.init)
    for (file, words) in zip(files, words) {
      for type in words.declaredTypes { owners[type] = rank(file) }
    }
    return zip(files, words).flatMap { file, words in
      words.capitalized.compactMap { word, line in
        guard let owner = owners[word], owner > rank(file) else { return nil }
        let folder = owner == folders.count ? module : folders[owner]
        return file.complaint(line, "\(file.room) must not use \(word), which is in \(folder)")
      }
    }
  }
}
