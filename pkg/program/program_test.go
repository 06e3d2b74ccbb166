// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

// settings are those of a program that serves shoes.
type settings struct {
	size    int
	pace    time.Duration
	colour  string
	origins program.Origins
	err     error
}

func variables() map[string]string {
	return map[string]string{"size": "SHOE_SIZE", "pace": "SHOE_PACE", "colour": "SHOE_COLOUR"}
}

// run runs the program, with a subcommand "lace" that ends with an error.
func run(t *testing.T, vars map[string]string, fail error, args ...string) (s settings, code int, stdout, stderr string) {
	t.Helper()
	var sections cliflag.NamedFlagSets
	sections.FlagSet("shoe").IntVar(&s.size, "size", 41, "`number` of the shoe")
	sections.FlagSet("shoe").StringVar(&s.colour, "colour", "red", "its colour")
	sections.FlagSet("walk").DurationVar(&s.pace, "pace", time.Second, "time for a step")
	root := &cobra.Command{
		Use: "shoe", Long: "shoe walks.", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := program.UnexpectedArguments(args, ", shoes take none"); err != nil {
				return err
			}
			s.origins, s.err = program.ReadEnvironment(cmd.Flags(), variables(), func(name string) string { return vars[name] })
			v := program.Validation{Origins: s.origins}
			v.Check("pace", s.pace.String(), program.CheckPositive(s.pace))
			if s.colour == "pink" {
				v.Fail("colour", errors.New("out of stock"))
			}
			return program.UsageError(errors.Join(s.err, v.Err()))
		},
	}
	program.AddFlags(root, sections, variables())
	root.AddCommand(&cobra.Command{Use: "lace", Short: "Lace up", RunE: func(*cobra.Command, []string) error { return fail }})
	var out, complaint bytes.Buffer
	code = program.Run(t.Context(), root, args, &out, &complaint)
	return s, code, out.String(), complaint.String()
}

func TestFlagOverEnvironmentOverDefault(t *testing.T) {
	for name, tc := range map[string]struct {
		args   []string
		vars   map[string]string
		size   int
		origin string
	}{
		"default":            {nil, nil, 41, "--size"},
		"environment":        {nil, map[string]string{"SHOE_SIZE": "42"}, 42, "--size (from SHOE_SIZE)"},
		"empty variable":     {nil, map[string]string{"SHOE_SIZE": ""}, 41, "--size"},
		"flag":               {[]string{"--size=43"}, map[string]string{"SHOE_SIZE": "42"}, 43, "--size"},
		"flag is default":    {[]string{"--size=41"}, map[string]string{"SHOE_SIZE": "42"}, 41, "--size"},
		"flag over nonsense": {[]string{"--size=43"}, map[string]string{"SHOE_SIZE": "big"}, 43, "--size"},
	} {
		t.Run(name, func(t *testing.T) {
			s, code, _, stderr := run(t, tc.vars, nil, tc.args...)
			if code != program.ExitOK || stderr != "" || s.size != tc.size || s.origins.Of("size") != tc.origin {
				t.Errorf("exit code %d, complained %q, size %d of %s", code, stderr, s.size, s.origins.Of("size"))
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		vars map[string]string
		fail error
		code int
		says string
	}{
		"unknown flag":     {[]string{"--heel"}, nil, nil, program.ExitUsage, "shoe: unknown flag: --heel\nshoe --help lists its settings.\n"},
		"of a subcommand":  {[]string{"lace", "--heel"}, nil, nil, program.ExitUsage, "shoe lace: unknown flag: --heel\nshoe lace --help lists its settings.\n"},
		"no value":         {[]string{"--size"}, nil, nil, program.ExitUsage, "--size"},
		"argument":         {[]string{"run"}, nil, nil, program.ExitUsage, "shoe: unexpected argument \"run\", shoes take none\n"},
		"after two dashes": {[]string{"--", "run"}, nil, nil, program.ExitUsage, "\"run\""},
		"flag":             {[]string{"--size=big"}, nil, nil, program.ExitUsage, "invalid value \"big\" of --size: must be an integer\n"},
		"variable":         {nil, map[string]string{"SHOE_SIZE": "big"}, nil, program.ExitUsage, "invalid value \"big\" of --size (from SHOE_SIZE): must be an integer\n"},
		"all": {[]string{"--colour=pink"}, map[string]string{"SHOE_SIZE": "big", "SHOE_PACE": "-1s"}, nil, program.ExitUsage,
			"invalid value \"big\" of --size (from SHOE_SIZE): must be an integer\n" +
				"invalid value \"-1s\" of --pace (from SHOE_PACE): must not be negative\n--colour: out of stock\n"},
		"failure":       {[]string{"lace"}, nil, errors.New("torn"), program.ExitError, "shoe lace: torn\n"},
		"logged before": {[]string{"lace"}, nil, program.ErrReported, program.ExitError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, code, stdout, stderr := run(t, tc.vars, tc.fail, tc.args...)
			if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.says) || tc.says == "" && stderr != "" {
				t.Errorf("exit code %d, printed %q, complained %q; want %d and %q", code, stdout, stderr, tc.code, tc.says)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"program": {[]string{"--help", "x"}, []string{
			"shoe walks.\n\nUsage:\n  shoe [flags]\n  shoe [command] [flags]\n\nCommands:\n", "\n  lace ", "\n  help ", "\n  completion ",
			"Shoe flags:\n", "--size number ", "[SHOE_SIZE] (default 41)", "Walk flags:\n", "-h, --help", "print this text and exit",
		}},
		"subcommand":     {[]string{"lace", "-h"}, []string{"Lace up\n\nUsage:\n  shoe lace [flags]\n\nLace flags:\n"}},
		"cobra's own":    {[]string{"completion", "bash", "-h"}, []string{"Usage:\n  shoe completion bash"}},
		"help command":   {[]string{"help", "lace"}, []string{"Lace up\n"}},
		"help, no words": {[]string{"help"}, []string{"shoe walks.\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, code, stdout, stderr := run(t, map[string]string{"SHOE_SIZE": "big"}, nil, tc.args...)
			if code != program.ExitOK || stderr != "" {
				t.Errorf("exit code %d, complained %q", code, stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("printed %q, want %q in it", stdout, want)
				}
			}
		})
	}
}

// What Go cannot read is answered with what can be read.
func TestWordsForValues(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.Bool("bool", false, "")
	fs.Float64("float64", 0, "")
	fs.IP("ip", nil, "")
	fs.Var(&resource.QuantityValue{}, "quantity", "")
	fs.Uint("uint", 0, "")
	for flag, want := range map[string]string{
		"bool": "must be true or false", "float64": "must be a number", "ip": "want an IP address", "quantity": "want a Kubernetes quantity", "uint": "non-negative integer",
	} {
		origins, err := program.ReadEnvironment(fs, map[string]string{flag: "X"}, func(string) string { return "odd" })
		if err == nil || !strings.Contains(err.Error(), want) || origins[flag] != "X" {
			t.Errorf("%s: %v from %v, want %q", flag, err, origins, want)
		}
	}
}

func TestSetDefault(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	d := fs.Duration("pace", 0, "time for a step")
	program.SetDefault(fs, "pace", "60s")
	if *d != time.Minute || !strings.Contains(fs.FlagUsages(), "(default 60s)") || fs.Changed("pace") {
		t.Errorf("%v, %s", *d, fs.FlagUsages())
	}
	defer func() {
		if recover() == nil {
			t.Error("a default that the flag does not take was accepted")
		}
	}()
	program.SetDefault(fs, "pace", "60")
}
