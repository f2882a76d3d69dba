import CaromCore
import CaromPlacement
import CaromTransport

extension RedisConnection {
  /// Connects to the directory of a fleet: logs in, and installs the function if the server does
  /// not have it. Looking the host up, connecting, the handshake of TLS and each answer may take 3
  /// seconds.
  package static func open(
    _ address: FleetAddress, on loop: NetworkLoop
  ) async throws(RedisError) -> RedisConnection {
    let endpoints = try await lookUp(address, on: loop)
    let connection = try await open(
      to: endpoints, of: address.host, trusting: try trust(of: address), on: loop)
    let prepared = await withTaskCancellationHandler {
      await connection.prepare(address)
    } onCancel: {
      Task { await connection.close(because: .transport(.cancelled)) }
    }
    do throws(RedisError) {
      try prepared.get()
      return connection
    } catch {
      await connection.close()
      throw error
    }
  }

  private static func trust(of address: FleetAddress) throws(RedisError) -> TLSTrust? {
    do throws(TLSCertificateError) { return try address.trust() } catch {
      throw .tlsFiles(reason: error.description)
    }
  }

  private static func lookUp(
    _ address: FleetAddress, on loop: NetworkLoop
  ) async throws(RedisError) -> [Endpoint] {
    let lookup = Task { () -> Result<[IPAddress], TransportError> in
      do throws(TransportError) { return .success(try await loop.lookup(host: address.host)) } catch
      { return .failure(error) }
    }
    let limit = Task {
      guard (try? await loop.sleep(until: loop.now + answerLimit)) != nil else { return }
      lookup.cancel()
    }
    let result = await withTaskCancellationHandler {
      await lookup.value
    } onCancel: {
      lookup.cancel()
    }
    limit.cancel()
    switch result {
    case .success(let addresses): return addresses.map { Endpoint($0, port: address.port) }
    case .failure(.cancelled) where !Task.isCancelled: throw .timedOut
    case .failure(let error): throw .transport(error)
    }
  }

  private func prepare(_ address: FleetAddress) async -> Result<Void, RedisError> {
    do throws(RedisError) {
      if let logIn = RedisCommand.logIn(to: address) { try await perform(logIn) }
      if try await perform(RedisCommand.listFunction) == .array([]) {
        try await perform(RedisCommand.loadFunction)
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// Sends a command, and returns its answer unless that says that the command failed.
  @discardableResult
  private func perform(_ command: [UInt8]) async throws(RedisError) -> RESPValue {
    let answer = try await send(command)
    if case .error(let text) = answer {
      throw RedisError(message: String(decoding: text, as: UTF8.self))
    }
    return answer
  }

  /// Sends a command to the directory of a fleet, and calls `complete` with its answer on the
  /// loop's thread, in the order of the commands.
  func send(
    _ command: DirectoryCommand, fleet: MatchID,
    _ complete: @escaping @Sendable (Result<DirectoryAnswer, RedisError>) -> Void
  ) {
    send(RedisCommand.encode(command, fleet: fleet)) { [weak self] result in
      let answer = result.flatMap { Self.decode($0, to: command) }
      complete(answer)
      guard case .failure(let error) = answer, error.endsConnection else { return }
      self?.assumeIsolated { $0.close(because: error) }
    }
  }

  private static func decode(
    _ value: RESPValue, to command: DirectoryCommand
  ) -> Result<DirectoryAnswer, RedisError> {
    do throws(RedisAnswerError) {
      return .success(try RedisAnswer.decode(value, to: command))
    } catch {
      return .failure(RedisError(error))
    }
  }
}
