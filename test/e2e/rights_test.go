// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// right is one verb on one resource, with its subresource.
type right struct{ group, resource, verb string }

func (r right) String() string {
	if r.group == "" {
		return r.verb + " " + r.resource
	}
	return r.verb + " " + r.resource + "." + r.group
}

// testUserAgent is the user agent of tests that use the daemon's account. The audit
// below ignores their requests.
const testUserAgent = "vk-sandbox-e2e"

// fallBack are rights that are not used with this API server.
var fallBack = map[right]bool{
	// Needed with API servers that cannot stream a list into a watch.
	{"", "pods", "list"}:  true,
	{"", "nodes", "list"}: true,
}

// checkRights compares the daemons' rights with their requests during all tests. An
// unused right is superfluous; a refused request is missing from the chart.
func (s *suite) checkRights(ctx context.Context) error {
	if s.info.AuditLog == "" {
		fmt.Println("NOT CHECKED: whether the daemon uses all its rights; this cluster keeps no audit log")
		return nil
	}
	granted, err := s.granted(ctx)
	if err != nil {
		return err
	}
	used, refused, err := s.audited()
	if err != nil {
		return err
	}
	var errs []error
	for r := range granted {
		if !used[r] && !fallBack[r] {
			errs = append(errs, fmt.Errorf("the daemon may %v, and no test has seen it do so", r))
		}
	}
	for r, at := range refused {
		errs = append(errs, fmt.Errorf("the daemon was refused to %v at %v", r, at))
	}
	fmt.Printf("rights: %d granted, %d used, %d refused\n", len(granted), len(used), len(refused))
	return errors.Join(errs...)
}

// granted returns the rights in the chart's roles.
func (s *suite) granted(ctx context.Context) (map[right]bool, error) {
	ours := metav1.ListOptions{LabelSelector: ofTheDaemon}
	clusterRoles, err := s.client.RbacV1().ClusterRoles().List(ctx, ours)
	if err != nil {
		return nil, err
	}
	roles, err := s.client.RbacV1().Roles("").List(ctx, ours)
	if err != nil {
		return nil, err
	}
	var rules []rbacv1.PolicyRule
	for _, role := range clusterRoles.Items {
		rules = append(rules, role.Rules...)
	}
	for _, role := range roles.Items {
		rules = append(rules, role.Rules...)
	}
	granted := map[right]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[right{group, resource, verb}] = true
				}
			}
		}
	}
	if len(granted) == 0 {
		return nil, errors.New("the chart's roles were not found")
	}
	return granted, nil
}

// audited returns the rights that the daemons used, and when a request was refused.
func (s *suite) audited() (used map[right]bool, refused map[right]time.Time, err error) {
	requests, err := s.info.Requests(daemonUser, s.begun)
	if err != nil {
		return nil, nil, err
	}
	used, refused = map[right]bool{}, map[right]time.Time{}
	for _, request := range requests {
		// Every other user agent of the account is a daemon.
		if request.ObjectRef.Resource == "" || request.UserAgent == testUserAgent {
			continue
		}
		r := right{request.ObjectRef.APIGroup, request.ObjectRef.Resource, request.Verb}
		if request.ObjectRef.Subresource != "" {
			r.resource += "/" + request.ObjectRef.Subresource
		}
		used[r] = true
		switch {
		case request.ResponseStatus.Code == http.StatusForbidden && !terminating(request) && !s.uninstall.has(request.RequestReceivedTimestamp):
			refused[r] = request.RequestReceivedTimestamp
		case request.Verb == "patch" && request.ResponseStatus.Code == http.StatusCreated:
			used[right{r.group, r.resource, "create"}] = true // an apply that creates is asked for both
		}
	}
	if len(used) == 0 {
		return nil, nil, fmt.Errorf("the audit log %s has no request of the daemon", s.info.AuditLog)
	}
	return used, refused, nil
}

// span is a period of time with both ends included.
type span struct{ from, to time.Time }

func (s span) has(at time.Time) bool { return !at.Before(s.from) && !at.After(s.to) }

// terminating reports whether a write was refused because its namespace is being
// deleted.
func terminating(r clusterinfo.Request) bool {
	return slices.Contains(r.ResponseStatus.Details.Causes, struct{ Reason string }{string(corev1.NamespaceTerminatingCause)})
}

// TestServiceAccount asks the API server for the rights of the daemon's account.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	account := "--as=" + daemonUser
	for question, want := range map[string]string{
		"get secrets":                                     "no",
		"list secrets":                                    "no",
		"watch secrets":                                   "no",
		"list configmaps":                                 "no",
		"list services":                                   "no",
		"create pods":                                     "no",
		"update pods":                                     "no",
		"delete nodes":                                    "no",
		"list sandboxes.agents.x-k8s.io":                  "no",
		"delete sandboxes.agents.x-k8s.io":                "no",
		"create serviceaccounts/token":                    "no",
		"get namespaces":                                  "no",
		"list namespaces":                                 "no",
		"list apiservices.apiregistration.k8s.io":         "no",
		"get namespaces/kube-system":                      "yes",
		"get apiservices.apiregistration.k8s.io":          "yes",
		"get sandboxes.agents.x-k8s.io":                   "yes",
		"watch pods":                                      "yes",
		"patch pods --subresource=status":                 "yes",
		"create nodes":                                    "yes",
		"create events":                                   "yes",
		"patch nodes --subresource=status":                "yes",
		"update pods --subresource=status":                "no",
		"create pods --subresource=exec":                  "no",
		"list nodeclaimstatuses.sandbox.cocoonstack.io":   "no",
		"delete nodeclaimstatuses.sandbox.cocoonstack.io": "no",
		"watch nodeclaimstatuses.sandbox.cocoonstack.io":  "yes",
		"patch nodeclaimstatuses.sandbox.cocoonstack.io":  "yes",
		"patch nodeclaimstatuses.sandbox.cocoonstack.io --subresource=status":  "yes",
		"update nodeclaimstatuses.sandbox.cocoonstack.io --subresource=status": "no",
		"create pods --subresource=eviction":                                   "no",
	} {
		t.Run(question, func(t *testing.T) {
			args := append([]string{"auth", "can-i"}, strings.Fields(question)...)
			// The answer "no" has exit code 1.
			got, err := shared.kubectl(t.Context(), append(args, account, "--all-namespaces")...)
			if got = strings.TrimSpace(got); got != want {
				t.Errorf("answer %q, want %q (%v)", got, want, err)
			}
		})
	}
}
