/// Who may import whom: arrows point at what is imported, and nothing pure looks at the shell.
enum ImportRule {
  /// Pure modules: no input or output, no clock, no threads. They import these and nothing else.
  static let pure: [String: Set<String>] = [
    "CaromCore": [],
    "CaromPhysics": [],
    "CaromCodec": ["CaromCore"],
    "CaromCBOR": ["CaromCore", "CaromCodec"],
    "CaromCrypto": ["CaromCore", "CSodium"],
    "CaromDataChannel": ["CaromCore"],
    "CaromDNS": ["CaromCore", "Swift"],  // for the composed form of Unicode text
    "CaromSimulation": ["CaromCore"],
    "CaromTesting": ["CaromCore", "Synchronization"],  // for `TestClock`, which tasks share
    "CaromProtocol": ["CaromCore", "CaromCodec", "CaromCrypto"],
    "CaromPlacement": ["CaromCore", "CaromCrypto"],
    "CaromGroup": ["CaromCore", "CaromCodec", "CaromCrypto", "CaromProtocol"],
    "AirHockey": ["CaromCore", "CaromPhysics", "CaromSimulation"],
    "WebEngine": ["CaromCore", "CaromProtocol", "CaromSimulation"],
    "WebGame": ["CaromCore", "CaromProtocol", "CaromSimulation", "WebEngine"],
    "AirHockeyEngine": [
      "AirHockey", "CaromCore", "CaromPhysics", "CaromProtocol", "CaromSimulation", "WebEngine",
    ],
    "TerminalText": [],
    "AirHockeyTerminal": ["AirHockey", "CaromCore", "CaromPhysics", "TerminalText"],
  ]

  /// The shell: of the project's own modules, these.
  static let shell: [String: Set<String>] = [
    "CaromTransport": ["CaromCore", "CUVLoop"],
    "CaromDiscovery": ["CaromCore", "CaromDNS", "CaromTransport"],
    "CaromSession": [
      "CaromCBOR", "CaromCore", "CaromCrypto", "CaromDataChannel", "CaromProtocol",
      "CaromSimulation", "CaromTesting", "CaromTransport",
    ],
    "CaromSessionTesting": ["CaromCore", "CaromSession", "CaromTesting", "CaromTransport"],
    "CaromServer": ["CaromCore", "CaromProtocol", "CaromSession", "CaromTransport"],
    "CaromFleet": [
      "CaromCore", "CaromCrypto", "CaromPlacement", "CaromProtocol", "CaromSession",
      "CaromTransport",
    ],
    "CaromNearby": [
      "CaromCBOR", "CaromCore", "CaromCodec", "CaromCrypto", "CaromDNS", "CaromDiscovery",
      "CaromGroup", "CaromProtocol", "CaromSession", "CaromTransport",
    ],
    "MultipeerConnectivity": [
      "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromGroup", "CaromNearby",
      "CaromProtocol", "CaromSession", "CaromTransport",
    ],
    "CaromBonjour": [
      "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromGroup", "CaromNearby",
      "CaromProtocol", "CaromSession", "CaromTransport",
    ],
    "CommandSupport": [
      "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromFleet", "CaromPlacement",
      "CaromSession", "CaromTransport", "TerminalText",
    ],
    "GameKit": ["CaromBonjour", "CaromNearby", "CaromTransport", "MultipeerConnectivity"],
    "Carom": [
      "CaromCBOR", "CaromCodec", "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery",
      "CaromNearby", "CaromPhysics", "CaromProtocol", "CaromSession", "CaromSimulation",
      "CaromTesting", "CaromTransport",
    ],
  ]

  /// Programs stand on top and may use every module.
  static let programs: Set<String> = ["air-hockey", "carom-tool"]

  static func violations(in file: SourceFile) -> [String] {
    guard let module = file.module, !programs.contains(module) else { return [] }
    guard pure[module] != nil || shell[module] != nil else {
      return [file.complaint(0, "the import table does not know \(module)")]
    }
    return file.lines.indices.compactMap { index in
      guard let imported = importedModule(file.lines[index]) else { return nil }
      if allows(module, imported) { return nil }
      return file.complaint(index, "\(module) must not import \(imported)")
    }
  }

  private static func allows(_ module: String, _ imported: String) -> Bool {
    if let allowed = pure[module] { return allowed.contains(imported) }
    let ours =
      pure[imported] != nil || shell[imported] != nil
      || imported.hasPrefix("C")
        && imported.dropFirst().first?.isUppercase == true
    return !ours || shell[module, default: []].contains(imported)
  }

  /// The top module of an import line, whatever stands before `import`.
  private static func importedModule(_ line: Substring) -> String? {
    let words = line.split(separator: " ").filter { !$0.hasPrefix("@") }
    guard let place = words.firstIndex(of: "import"), place <= 1, place + 1 < words.count,
      place == 0 || ["public", "package", "internal", "private", "fileprivate"].contains(words[0])
    else { return nil }
    let kinds: Set<Substring> = [
      "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]
    let name = kinds.contains(words[place + 1]) ? words.last : words[place + 1]
    return name.flatMap { $0.split(separator: ".").first }.map(String.init)
  }
}
