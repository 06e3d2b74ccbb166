// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Output formats of the claims command.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// printer writes claims in one format.
type printer func(io.Writer, claimsReport) error

func parseOutput(s string) (printer, error) {
	switch s {
	case outputTable:
		return printTable, nil
	case outputJSON:
		return printJSON, nil
	case outputYAML:
		return printYAML, nil
	}
	return nil, errors.New("want table, json or yaml")
}

func printJSON(w io.Writer, s claimsReport) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s)
}

func printYAML(w io.Writer, s claimsReport) error {
	text, err := yaml.Marshal(s)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func printTable(w io.Writer, s claimsReport) error {
	if err := printRows(w, s); err != nil {
		return err
	}
	var b strings.Builder
	if s.Place != nil {
		b.WriteString("\n" + placeLine(*s.Place))
	}
	if n := s.NotAccepted; n != nil {
		fmt.Fprintf(&b, "\nNOT ACCEPTED HERE (%s): %s.\nTo accept cluster and host as they are here: %s\n", n.Reason, printable(n.Message), n.Accept)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printRows(w io.Writer, s claimsReport) error {
	if len(s.Claims) == 0 {
		_, err := fmt.Fprintln(w, "No claims.")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tSTATE\tID\tADDRESS\tOWNER\tCLAIMED\tDEADLINE")
	for _, c := range s.Claims {
		owner := ""
		if c.Owner != nil {
			owner = c.Owner.Kind + "/" + c.Owner.Name
		}
		cells := []string{c.Pod, string(c.State), c.ID, c.Address, owner, stamp(c.ClaimedAt), stamp(c.Deadline)}
		for i, cell := range cells {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

func stamp(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// printable keeps what another program wrote from moving the terminal's cursor.
func printable(cell string) string {
	if cell == "" {
		return "<none>"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, cell)
}
