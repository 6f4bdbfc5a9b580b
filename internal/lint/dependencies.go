package lint

import (
	"maps"
	"slices"
	"strings"
)

const dependenciesPage = "docs/dependencies.md"

// checkDependencies compares what is used with the tables that give the
// reasons for it: the same modules, in the versions of go.mod.
func checkDependencies(t *Tree) (found []Finding) {
	page := t.file(dependenciesPage)
	if page == nil {
		return []Finding{finding(dependenciesPage, 0, "the page is missing: it says what each dependency is for")}
	}
	for _, table := range []struct {
		heading, mod string
		used         func(mod string) []string // packages
	}{
		{"Modules", "go.mod", func(string) []string { return t.imported() }},
		{"Tools", "tools/go.mod", toolsOf},
	} {
		mod := t.file(table.mod)
		if mod == nil {
			found = append(found, finding(table.mod, 0, "the file is missing"))
			continue
		}
		direct := direct(requirements(mod.Src), table.used(mod.Src))
		found = append(found, checkReasons(tableUnder(page.Src, table.heading), table.mod, direct)...)
	}
	return found
}

// checkReasons compares the rows of a table with the modules that are used.
func checkReasons(rows []row, mod string, direct map[string]string) (found []Finding) {
	listed := map[string]bool{}
	for _, r := range rows {
		names := spans(r.cells[0])
		if len(names) != 1 || len(r.cells) != 5 {
			found = append(found, finding(dependenciesPage, r.line, "wanted 5 cells: `module`, version, licence, what for, why not our own"))
			continue
		}
		listed[names[0]] = true
		version, ok := direct[names[0]]
		switch {
		case !ok:
			found = append(found, finding(dependenciesPage, r.line, "nothing here uses %s directly: delete the row", names[0]))
		case version != r.cells[1]:
			found = append(found, finding(dependenciesPage, r.line, "%s is %s in %s: correct the version, and read what changed", names[0], version, mod))
		}
	}
	for name := range direct {
		if !listed[name] {
			found = append(found, finding(dependenciesPage, 0, "%s of %s has no row: say what it is for and why it is not written here, or do without it", name, mod))
		}
	}
	return found
}

// requirements returns what a go.mod requires, directly or not: module to version.
func requirements(mod string) map[string]string {
	versions := map[string]string{}
	for _, fields := range directives(mod, "require") {
		if len(fields) == 2 {
			versions[fields[0]] = fields[1]
		}
	}
	return versions
}

// toolsOf returns the packages of the tool directives.
func toolsOf(mod string) (packages []string) {
	for _, fields := range directives(mod, "tool") {
		packages = append(packages, fields...)
	}
	return packages
}

// directives returns the fields of each directive of a kind, alone or in a block.
func directives(mod, kind string) (all [][]string) {
	block := ""
	for line := range strings.Lines(mod) {
		text, _, _ := strings.Cut(line, "//")
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0:
		case fields[0] == ")":
			block = ""
		case len(fields) == 2 && fields[1] == "(":
			block = fields[0]
		case fields[0] == kind && block == "":
			all = append(all, fields[1:])
		case block == kind:
			all = append(all, fields)
		}
	}
	return all
}

// imported returns the packages that the tree imports, tests included.
func (t *Tree) imported() []string {
	packages := map[string]bool{}
	for _, f := range t.Files {
		if f.Go == nil {
			continue
		}
		for _, spec := range f.Go.Imports {
			packages[strings.Trim(spec.Path.Value, `"`)] = true
		}
	}
	return slices.Collect(maps.Keys(packages))
}

// direct returns the required modules that hold one of the packages.
func direct(required map[string]string, packages []string) map[string]string {
	modules := map[string]string{}
	for _, p := range packages {
		best := ""
		for m := range required {
			if within(p, m+"/...") && len(m) > len(best) {
				best = m
			}
		}
		if best != "" {
			modules[best] = required[best]
		}
	}
	return modules
}
