// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

const (
	root     = "../.."
	chartDir = root + "/charts/vk-sandbox"
	// release is the Helm release; its namespace, DaemonSet and service account
	// have the same name.
	release      = "vk-sandbox-e2e"
	daemonUser   = "system:serviceaccount:" + release + ":" + release
	tokenSecret  = "sandboxd-token"
	setUpTimeout = 3 * time.Minute
)

// suite is shared by all tests: the cluster and the release installed on it.
type suite struct {
	info    *clusterinfo.Info
	client  kubernetes.Interface
	dynamic dynamic.Interface
	// objects are those that the nodes publish.
	objects versioned.Interface
	image   string
	// begun is when: what another run asked for is not this one's.
	begun time.Time
	// uninstall is from when to when Helm removed the release: it takes the rights
	// away while the daemons that it has told to stop are still stopping.
	uninstall span
}

// shared is set by TestMain before any test runs.
var shared *suite

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	if shared, err = newSuite(); err != nil {
		return 0, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
		defer cancel()
		err = errors.Join(err, shared.remove(ctx))
	}()
	if err := shared.install(ctx); err != nil {
		return 0, errors.Join(err, errors.New(shared.describe(ctx, release)))
	}
	code = m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		// The time for setting up is over by now.
		ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
		defer cancel()
		err = shared.checkRights(ctx)
	}
	return code, err
}

func newSuite() (*suite, error) {
	image := os.Getenv("E2E_IMAGE")
	if image == "" {
		return nil, errors.New("E2E_IMAGE names no image; run the tests with \"make test-e2e\"")
	}
	info, err := clusterinfo.Load(root)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", info.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	// A client that holds itself back near a deadline would hide why.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	own, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &suite{info: info, client: client, dynamic: objects, objects: own, image: image, begun: time.Now()}, nil
}

// install runs the installation steps of the documentation in order.
func (s *suite) install(ctx context.Context) error {
	if _, err := s.kubectl(ctx, "--namespace=agent-sandbox-system", "rollout", "status", "deployment/agent-sandbox-controller", "--timeout=60s"); err != nil {
		return fmt.Errorf("the tests need the agent-sandbox controller, which \"make cluster-up\" installs: %w", err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: release, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"},
	}}
	if _, err := s.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create namespace %s: %w", release, err)
	}
	token, err := s.rootToken()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: tokenSecret},
		StringData: map[string]string{"token": token},
	}
	if _, err := s.client.CoreV1().Secrets(release).Create(ctx, secret, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create secret %s: %w", tokenSecret, err)
	}
	if err := s.upgrade(ctx); err != nil {
		return err
	}
	return s.nodesReady(ctx)
}

// upgrade installs the chart or upgrades its release with these additional values. It
// returns when the DaemonSet's Pods are Ready.
func (s *suite) upgrade(ctx context.Context, set ...string) error {
	if err := s.upgradeTo(ctx, chartDir, append([]string{"--wait"}, flags(set)...)...); err != nil {
		return err
	}
	return s.rolledOut(ctx)
}

// upgradeTo upgrades to the chart in a folder with additional Helm flags. It waits only
// if the flags request it.
func (s *suite) upgradeTo(ctx context.Context, chart string, more ...string) error {
	repository, tag, _ := strings.Cut(s.image, ":")
	args := []string{
		"upgrade", release, chart, "--install", "--namespace=" + release, "--timeout=2m",
		// The chart's CRDs outlive a release; one of another name takes them over.
		"--take-ownership",
		"--set=image.repository=" + repository, "--set-string=image.tag=" + tag,
		"--set=sandboxd.existingSecret.name=" + tokenSecret,
		"--set=inventory.publish=true", "--set=inventory.interval=5s", "--set=routing.enabled=true",
		// What several tests lose together is not to wait for an hour.
		"--set=claims.missingOwnersHold=20s",
		// What is logged at most is what the search for tokens has to look at.
		"--set=log.level=debug",
		// Two dozen rollouts, each of them of all hosts, are what takes the time here.
		"--set-string=updateStrategy.rollingUpdate.maxUnavailable=100%", "--set=readinessProbe.periodSeconds=1",
	}
	_, err := s.helm(ctx, append(args, more...)...)
	return err
}

// rolledOut waits until all Pods of the DaemonSet are of the current revision. Helm does
// not wait for all of them.
func (s *suite) rolledOut(ctx context.Context) error {
	_, err := s.kubectl(ctx, "--namespace="+release, "rollout", "status", "daemonset/"+release, "--timeout=2m")
	return err
}

func flags(set []string) []string {
	var args []string
	for _, value := range set {
		args = append(args, "--set="+value)
	}
	return args
}

// remove restores the cluster's initial state. It also deletes the virtual nodes'
// objects, which an uninstall keeps.
func (s *suite) remove(ctx context.Context) error {
	_, uninstall := s.helm(ctx, "uninstall", release, "--namespace="+release, "--ignore-not-found", "--wait", "--timeout=2m")
	errs := []error{uninstall}
	for _, h := range s.info.Hosts {
		errs = append(errs, ignoreNotFound(s.client.CoreV1().Nodes().Delete(ctx, h.VirtualNode(), metav1.DeleteOptions{})))
	}
	errs = append(errs, ignoreNotFound(s.client.CoreV1().Namespaces().Delete(ctx, release, metav1.DeleteOptions{})))
	return errors.Join(errs...)
}

func (s *suite) rootToken() (string, error) {
	content, err := os.ReadFile(s.info.Hosts[0].SandboxdTokenFile)
	if err != nil {
		return "", fmt.Errorf("read sandboxd's root token: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
