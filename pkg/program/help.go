// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// helpWidth is the width of help texts, in characters.
const helpWidth = 100

// AddFlags adds the flags in sections to cmd. The help text prints them by section, each
// with its environment variable from variables.
func AddFlags(cmd *cobra.Command, sections cliflag.NamedFlagSets, variables map[string]string) {
	information := sections.FlagSet(sections.Order[len(sections.Order)-1])
	information.BoolP("help", "h", false, "print this text and exit")
	for _, name := range sections.Order {
		sections.FlagSets[name].VisitAll(func(f *pflag.Flag) {
			if variable := variables[f.Name]; variable != "" {
				f.Usage += " [" + variable + "]"
			}
		})
		cmd.Flags().AddFlagSet(sections.FlagSets[name])
	}
	cmd.SetHelpFunc(func(c *cobra.Command, _ []string) {
		shown := sections
		if c != cmd { // a subcommand of cobra's own, such as completion
			shown = cliflag.NamedFlagSets{Order: []string{c.Name()}, FlagSets: map[string]*pflag.FlagSet{c.Name(): c.LocalFlags()}}
		}
		printHelp(c, shown)
	})
}

func printHelp(cmd *cobra.Command, sections cliflag.NamedFlagSets) {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", cmp.Or(cmd.Long, cmd.Short), cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command] [flags]\n\nCommands:\n", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(w, "  %-*s  %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	cliflag.PrintSections(w, sections, helpWidth)
}

// SetDefault sets a flag's default, which help texts show as written in text. It panics
// if the flag refuses it.
func SetDefault(flags *pflag.FlagSet, name, text string) {
	f := flags.Lookup(name)
	if err := f.Value.Set(text); err != nil {
		panic(fmt.Sprintf("default of --%s: %v", name, err))
	}
	f.DefValue = text
}
