package lint

import (
	"path"
	"regexp"
	"strings"
)

// link is the target of [text](target) and of [name]: target.
var link = regexp.MustCompile(`\]\(([^()\s]+)\)|^\[[^\]]+\]:\s+(\S+)`)

// checkLinks follows the relative links of every page: the file must be there,
// and so must the heading.
func checkLinks(t *Tree) (found []Finding) {
	for _, f := range t.Files {
		if path.Ext(f.Path) != ".md" {
			continue
		}
		for i, line := range prose(f.Src) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if why := t.broken(f, m[1]+m[2]); why != "" {
					found = append(found, finding(f.Path, i+1, "link to %s: %s", m[1]+m[2], why))
				}
			}
		}
	}
	return found
}

func (t *Tree) broken(from *File, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return "" // the web is not ours to keep
	}
	name, anchor, _ := strings.Cut(target, "#")
	page := from
	if name != "" {
		name = path.Join(from.Dir(), name)
		if !t.paths[name] {
			return "there is no " + name + ": correct the link, or write the page"
		}
		page = t.file(name)
	}
	if anchor != "" && page != nil && path.Ext(page.Path) == ".md" && !anchors(page.Src)[anchor] {
		return page.Path + " has no such heading"
	}
	return ""
}
