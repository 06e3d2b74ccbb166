// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// parse returns the settings: an explicit flag before the environment before
// the default (configuration). An environment variable that is empty counts as
// unset, as a line without a value in an EnvironmentFile means it. Whatever is
// wrong is an error that names the flag, and the variable if the value came
// from one; all wrong variables are named at once.
func parse(args []string, getenv func(string) string) (*options, error) {
	o := &options{}
	all := settings(o)
	fs, err := newFlags("vk-sandbox", all)
	if err != nil {
		return nil, err
	}
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if o.help || o.version {
		return o, nil
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: everything is set by flags and environment variables, and the commands are %q, %q and %q", fs.Arg(0), commandClaims, commandApprove, commandCheck)
	}
	if o.origins, err = readEnvironment(fs, all, getenv); err == nil {
		err = o.complete()
	}
	return o, err
}

// parseCommand reads the settings of a command in the same way. If it returns false,
// they are wrong or the help is asked for: that is printed, and the command ends with
// the exit code.
func parseCommand(name, help string, all []setting, args []string, getenv func(string) string, stdout, stderr io.Writer) (code int, run bool) {
	flags, err := newFlags(name, all)
	if err == nil {
		err = flags.Parse(args)
	}
	if err != nil {
		return refuse(name, err, stderr), false
	}
	if wanted, _ := flags.GetBool("help"); wanted {
		fmt.Fprint(stdout, help+flags.FlagUsagesWrapped(helpWidth))
		return exitOK, false
	}
	if flags.NArg() > 0 {
		return refuse(name, fmt.Errorf("unexpected argument %q", flags.Arg(0)), stderr), false
	}
	if _, err := readEnvironment(flags, all, getenv); err != nil {
		return refuse(name, err, stderr), false
	}
	return exitOK, true
}

// refuse prints what is wrong with the settings of a command, and returns the exit code.
func refuse(name string, err error, stderr io.Writer) int {
	fmt.Fprintf(stderr, "vk-sandbox %s: %v\nvk-sandbox %[1]s --help lists the flags.\n", name, err)
	return exitUsage
}

// newFlags returns the settings' flags, and gives each setting its default.
func newFlags(name string, all []setting) (*pflag.FlagSet, error) {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.Usage, fs.SortFlags = func() {}, false
	for _, s := range all {
		if err := s.value.Set(s.fallback); err != nil {
			return nil, fmt.Errorf("default of --%s: %w", s.flag, err)
		}
		addFlag(fs, s)
	}
	return fs, nil
}

// readEnvironment sets what no flag has set, and returns which variable each
// such flag's value came from.
func readEnvironment(fs *pflag.FlagSet, all []setting, getenv func(string) string) (origins map[string]string, err error) {
	origins = map[string]string{}
	var errs []error
	for _, s := range all {
		text := getenv(s.env)
		if s.env == "" || text == "" || s.flag != "" && fs.Changed(s.flag) {
			continue
		}
		if err := s.value.Set(text); err != nil {
			errs = append(errs, environmentError(s, text, err))
			continue
		}
		origins[s.flag] = s.env
	}
	return origins, errors.Join(errs...)
}

// addFlag adds the setting's flag, if it has one.
func addFlag(fs *pflag.FlagSet, s setting) {
	if s.flag == "" {
		return
	}
	shorthands := map[string]string{"help": "h", "output": "o"}
	f := fs.VarPF(s.value, s.flag, shorthands[s.flag], s.usage)
	f.DefValue = s.fallback
	if s.value.Type() == "bool" {
		f.NoOptDefVal = "true"
	}
}

func environmentError(s setting, text string, err error) error {
	if s.flag == "" {
		return fmt.Errorf("invalid value %q of %s: %w", text, s.env, err)
	}
	return fmt.Errorf("invalid value %q of %s, which sets --%s: %w", text, s.env, s.flag, err)
}

// complete checks what no setting shows alone, and fills in what follows from
// another.
func (o *options) complete() error {
	fixed := virtualnode.FixedLabels(o.nodeName)
	for _, key := range slices.Sorted(maps.Keys(fixed)) {
		if given, ok := o.nodeLabels[key]; ok && given != fixed[key] {
			return fmt.Errorf("%s: the node's label %s is always %q, not %q; leave it out", o.origin("node-labels"), key, fixed[key], given)
		}
	}
	if o.enablePprof && o.metricsAddr == "" {
		return fmt.Errorf("--enable-pprof: profiles are served at --metrics-addr; give %s an address", o.origin("metrics-addr"))
	}
	if o.sandboxdAdvertiseAddr == "" {
		o.sandboxdAdvertiseAddr = hostPort(o.sandboxdURL)
	}
	return nil
}
