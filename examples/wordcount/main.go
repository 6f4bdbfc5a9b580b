// Command wordcount counts the words of Newton's Opticks, the smallest useful
// job: it writes the count of every word as CSV and prints the most frequent.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"
	"unicode"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
	"github.com/tailrace-io/tailrace/flow"
	"github.com/tailrace-io/tailrace/flow/agg"
)

// line is a row of the input.
type line struct {
	Text string `json:"text"`
}

type word struct{ Text string }

func (w *word) key() string { return w.Text }

// count is a word and how often it is there, ranked is several of them.
type (
	count  = flow.KeyValue[string, int64]
	ranked = flow.KeyValue[struct{}, []count]
)

// split finds the words of a line: letters, with apostrophes inside.
func split(in *line, out *flow.Out[word]) error {
	for w := range strings.FieldsFuncSeq(in.Text, func(r rune) bool { return r != '\'' && !unicode.IsLetter(r) }) {
		if w = strings.Trim(w, "'"); w != "" {
			out.Slot().Text = strings.ToLower(w)
		}
	}
	return nil
}

func moreFrequent(a, b *count) int {
	return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(b.Key, a.Key))
}

// build describes the job: JSON lines of in, counts into out, and the most
// frequent words into top.
func build(in, out string, top flow.Sink[ranked]) *flow.Graph {
	g := flow.New("wordcount")
	lines := flow.Read(g, "lines", files.JSONLines[line](in))
	words := flow.FlatMap(lines, "split", split)
	counts := flow.Total(flow.KeyBy(words, (*word).key), "count", agg.Count[word]())
	flow.Write(counts, "counts", files.ToCSV[count](out, files.Overwrite()))
	best := flow.Total(flow.KeyBy(counts, flow.NoKey), "best", agg.TopN(20, moreFrequent))
	flow.Write(best, "top", top)
	return g
}

func main() {
	in := flag.String("in", "examples/wordcount/data/*.jsonl.gz", "JSON lines with a `text` each, as a name or a glob")
	out := flag.String("out", "out/wordcount", "`directory` for the counts; those of an earlier run are replaced")
	flag.Parse()
	exec.RunMain(build(*in, *out, printer{}), exec.Options{})
}

// printer is a sink that prints what it is given.
type printer struct{}

func (p printer) Open(context.Context, flow.TaskInfo) (flow.Writer[ranked], error) { return p, nil }

func (printer) Write(_ context.Context, batch []ranked) error {
	for _, r := range batch {
		for _, c := range r.Value {
			fmt.Printf("%7d  %s\n", c.Value, c.Key)
		}
	}
	return nil
}

func (printer) Flush(context.Context) error { return nil }
func (printer) Close() error                { return nil }
