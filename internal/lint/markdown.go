package lint

import (
	"regexp"
	"strings"
	"unicode"
)

// row is one row of a markdown table.
type row struct {
	line  int
	cells []string // trimmed; `\|` is undone
}

// tableUnder returns the rows, without the header, of the first table below
// the heading; nil if there is none.
func tableUnder(src, heading string) (rows []row) {
	under, header := false, true
	for i, line := range strings.Split(src, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "#"):
			if rows != nil {
				return rows
			}
			under = strings.TrimLeft(text, "# ") == heading
		case under && strings.HasPrefix(text, "|"):
			if strings.Trim(text, "|-: ") == "" { // the rule below the header
				header = false
			} else if !header {
				rows = append(rows, row{i + 1, cells(text)})
			}
		case rows != nil:
			return rows
		}
	}
	return rows
}

func cells(line string) []string {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.Trim(line, " "), `\|`, bar)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	parts := strings.Split(line, "|")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimSpace(p), bar, "|")
	}
	return parts
}

var codeSpan = regexp.MustCompile("`[^`]*`")

// spans returns what stands in backticks in s.
func spans(s string) (code []string) {
	for _, c := range codeSpan.FindAllString(s, -1) {
		code = append(code, strings.Trim(c, "`"))
	}
	return code
}

// prose returns the lines of a page with fenced and inline code blanked, so
// that code is not read as text.
func prose(src string) []string {
	lines := strings.Split(src, "\n")
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			lines[i] = ""
		} else if fenced {
			lines[i] = ""
		} else {
			lines[i] = codeSpan.ReplaceAllString(line, "``")
		}
	}
	return lines
}

// anchors returns the names under which the headings of a page can be linked,
// made as GitHub makes them.
func anchors(src string) map[string]bool {
	names := map[string]bool{}
	fenced := false
	for line := range strings.Lines(src) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		title := strings.TrimLeft(line, "#")
		if fenced || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		names[slug(strings.TrimSpace(title))] = true
	}
	return names
}

func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
