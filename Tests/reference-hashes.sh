# Sourced by what checks that the simulation has the same hashes in every build.
#   write_hash_program FOLDER   writes ReferenceHashes.swift, which has `count` and `hash(_:)`
#   expected_hashes     prints the hashes, one a line: of the fixed match, the physics, a recorded match
#   hash_sources        the Swift files that belong to ReferenceHashes.swift
#   reference_hashes    all files on which the hashes and their comparison depend
fixtures=Tests/Fixtures
hash_files=("$fixtures/match-hashes.txt" "$fixtures/physics-hashes.txt" "$fixtures/recorded-match-hashes.txt")
hash_sources=(Tests/CaromSimulationTests/Support/FixedMatch.swift
  Tests/CaromSimulationTests/Support/RecordedMatchHashes.swift Tests/CaromPhysicsTests/CaseHashes.swift)
reference_hashes=("${hash_files[@]}" "${hash_sources[@]}" "$fixtures/physics_cases.json"
  "$fixtures/recorded-match.crpl" Tests/reference-hashes.py Tests/reference-hashes.sh)

write_hash_program() {
  python3 -B Tests/reference-hashes.py "$fixtures/physics_cases.json" "$fixtures/recorded-match.crpl" \
    >"$1/ReferenceHashes.swift"
}

expected_hashes() { cat "${hash_files[@]}"; }
