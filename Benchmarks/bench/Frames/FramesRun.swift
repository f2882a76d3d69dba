import Carom

extension FramesSetup {
  /// Plays the matches over loopback in this process, with one loop for the server and one for the
  /// clients.
  func run<World: FramesWorld>(_ world: World.Type) async throws -> FramesFigures {
    try await withNetworkLoop(name: "server") { serverLoop in
      try await withNetworkLoop(name: "clients") { clientLoop in
        let server = FramesServer<World>(self, on: serverLoop)
        let clients = FramesClients<World>(self, on: clientLoop)
        let port = try await Task(executorPreference: serverLoop) {
          try await server.open()
        }.value
        try await Task(executorPreference: clientLoop) {
          try await clients.join(port: port)
        }.value
        await clients.start()
        let figures = try await server.run()
        await clients.stop()
        await server.close()
        return FramesFigures(matches: matches, server: figures, ages: await clients.finish())
      }
    }
  }
}
