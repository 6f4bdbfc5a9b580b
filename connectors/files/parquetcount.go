package files

import (
	"context"

	"github.com/tailrace-io/tailrace/internal/env"
)

// ParquetRows counts the rows of the Parquet files that glob matches. It reads
// their footers only: a progress display can know the whole before the job starts.
func ParquetRows(ctx context.Context, glob string, opts ...Option) (rows int64, err error) {
	set := newFileSet(parquetFile, glob, opts)
	err = set.each(ctx, func(f env.File, p piece) error {
		file, err := openParquet(f, p)
		if err == nil {
			rows += file.NumRows()
		}
		return err
	})
	return rows, err
}
