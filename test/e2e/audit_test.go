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

// testUserAgent is what a test calls itself when it uses the daemon's account, so
// that the audit below does not take what it tries for the daemon's doing.
const testUserAgent = "vk-sandbox-e2e"

// fallBack are rights that this API server gives no occasion to use.
var fallBack = map[right]bool{
	// One that does not stream a list into a watch is asked for the list first.
	{"", "pods", "list"}:  true,
	{"", "nodes", "list"}: true,
}

// checkRights compares what the daemons were allowed with what they asked for
// while all the tests ran: a right that nobody used is one too many, and a
// request that was refused is one that the chart forgot.
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

// granted returns what the chart's roles allow.
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

// audited returns what the daemons asked for, and what of it was refused when.
func (s *suite) audited() (used map[right]bool, refused map[right]time.Time, err error) {
	requests, err := s.info.Requests(daemonUser, s.begun)
	if err != nil {
		return nil, nil, err
	}
	used, refused = map[right]bool{}, map[right]time.Time{}
	for _, request := range requests {
		// Tests use the account too, under a name of their own; everything else
		// that does is a daemon, whatever it calls itself.
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

// span is a stretch of time, both ends included.
type span struct{ from, to time.Time }

func (s span) has(at time.Time) bool { return !at.Before(s.from) && !at.After(s.to) }

// terminating reports whether a write came too late for its namespace, as an
// event about a Pod that goes with its namespace does.
func terminating(r clusterinfo.Request) bool {
	return slices.Contains(r.ResponseStatus.Details.Causes, struct{ Reason string }{string(corev1.NamespaceTerminatingCause)})
}
