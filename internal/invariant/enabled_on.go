//go:build race || invariants

package invariant

// Enabled says that costly checks run too. It is a constant, so that they cost
// nothing in other builds: the build tags race and invariants turn it on.
const Enabled = true
