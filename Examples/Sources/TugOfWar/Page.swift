import Carom
import Foundation

/// Serves the page in a folder on this computer, and a match against the browser that opens it.
func servePage(in folder: URL, port: UInt16) async throws {
  let types = ["html": "text/html", "js": "text/javascript", "wasm": "application/wasm"]
  var pages: [String: BrowserOptions.Page] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
    let file = folder.appending(path: name)
    guard let type = types[file.pathExtension] else { continue }
    pages["/\(name)"] = .init(Array(try Data(contentsOf: file)), mediaType: type)
  }
  pages["/"] = pages["/index.html"]
  let options = BrowserOptions(pages: pages)
  let host = PeerInfo(id: .random(), name: "Maya", application: "tug-of-war")
  try await withNetworkLoop { loop in
    try await Session.host(
      as: host, port: port, on: [.loopback4], over: [.stream, .webSocket], seats: 1,
      security: .none, browsers: options, loop: loop
    ) { session, port in
      print("http://127.0.0.1:\(port)/")
      fflush(nil)  // at once, also where a program reads it
      let server = RollbackServer(TugOfWar(), players: 2, at: loop.now)
      try await server.run(over: session, remotePlayers: [1]) { match in
        // The host waits for the first pull.
        let hasBegun = match.server.state.rope != 0
        match.server.setInput(TugOfWar.Pull(hasBegun ? 3 : 0), for: 0)
      }
    }
  }
}
