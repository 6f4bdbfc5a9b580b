package lint

import (
	"slices"
	"strings"
)

// The page and the heading of the import table. The table in the documentation
// is the one that is enforced, so it cannot become wrong.
const (
	layersPage    = "docs/architecture.md"
	layersHeading = "Layers"
)

// layer is a row of the import table.
type layer struct {
	packages string   // pattern, see within
	may      []string // patterns of our packages that it may import
}

// checkImports holds every package to the row of the import table that names
// it most exactly. Tests may import what they need.
func checkImports(t *Tree) (found []Finding) {
	layers := importTable(t)
	if len(layers) == 0 {
		return []Finding{finding(layersPage, 0, "no import table below the heading %q: write one", layersHeading)}
	}
	missing := map[string]bool{}
	for f := range t.sources {
		l, ok := layerOf(f.Dir(), layers)
		if !ok {
			if !missing[f.Dir()] {
				found = append(found, finding(f.Path, 0, "package %s has no row in the import table of %s: say there what it knows and what it may import", f.Dir(), layersPage))
			}
			missing[f.Dir()] = true
			continue
		}
		for _, spec := range f.Go.Imports {
			dir, ours := t.ours(strings.Trim(spec.Path.Value, `"`))
			if ours && !slices.ContainsFunc(l.may, func(p string) bool { return within(dir, p) }) {
				found = append(found, finding(f.Path, t.line(spec.Pos()),
					"%s may not import %s: move the code to the layer that knows both, or pass what is needed in; the table is in %s", f.Dir(), dir, layersPage))
			}
		}
	}
	return found
}

// ours returns the folder of an import path of this repository.
func (t *Tree) ours(importPath string) (dir string, ok bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

func importTable(t *Tree) (layers []layer) {
	page := t.file(layersPage)
	if page == nil {
		return nil
	}
	for _, r := range tableUnder(page.Src, layersHeading) {
		if len(r.cells) < 3 {
			continue
		}
		for _, name := range spans(r.cells[0]) {
			layers = append(layers, layer{name, spans(r.cells[2])})
		}
	}
	return layers
}

// layerOf finds the row with the longest pattern that means dir.
func layerOf(dir string, layers []layer) (best layer, ok bool) {
	for _, l := range layers {
		if within(dir, l.packages) && (!ok || len(l.packages) > len(best.packages)) {
			best, ok = l, true
		}
	}
	return best, ok
}
