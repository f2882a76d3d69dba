import FuzzSupport

/// Runs the input as a script between a host and an initiator; see `HostScript`. In plaintext, the
/// script reaches what an encrypted connection keeps inside its seal; the last byte then chooses
/// how the same script is encrypted.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    let script = fuzzInput(data, count)
    _ = try HostScript.run(script)
    let choice = Int(script.last ?? 0) % ScriptSecurity.encrypted.count
    _ = try HostScript.run(script, ScriptSecurity.encrypted[choice])
  } catch {
    fatalError("\(error)")
  }
  return 0
}
