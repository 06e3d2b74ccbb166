// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

// By default the scheduler binds 50 Pods a second and the controllers delete 20, for
// the good of an API server that others share. Here it would be all that a burst shows.
const (
	unlimited      = "--kube-api-qps=5000"
	unlimitedBurst = "--kube-api-burst=5000"
)

// APIServerURL is the URL of the API server on an address.
func APIServerURL(own netip.Addr) string {
	return "https://" + netip.AddrPortFrom(own, layout.APIServerPort).String()
}

// APIServer advertises the bridge's address, so that the Service "kubernetes"
// leads hosts to it.
func APIServer(p layout.Paths, binary string, own netip.Addr, admin *http.Client) process.Component {
	return process.Component{
		Name:   "kube-apiserver",
		Inputs: []string{p.Config(auditPolicyName)},
		Argv: []string{
			binary,
			"--audit-policy-file=" + p.Config(auditPolicyName),
			"--audit-log-path=" + p.AuditLog(),
			"--bind-address=" + own.String(),
			"--advertise-address=" + own.String(),
			"--secure-port=" + strconv.Itoa(layout.APIServerPort),
			"--service-cluster-ip-range=" + layout.ServiceCIDR,
			"--etcd-servers=https://" + own.String() + ":" + etcdPort,
			"--etcd-cafile=" + p.Cert(identity.EtcdCA),
			"--etcd-certfile=" + p.Cert(identity.EtcdClientCert),
			"--etcd-keyfile=" + p.Key(identity.EtcdClientCert),
			"--tls-cert-file=" + p.Cert(identity.ControlPlaneCert),
			"--tls-private-key-file=" + p.Key(identity.ControlPlaneCert),
			"--client-ca-file=" + p.Cert(identity.ClusterCA),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged",
			"--kubelet-client-certificate=" + p.Cert(identity.KubeletClientCert),
			"--kubelet-client-key=" + p.Key(identity.KubeletClientCert),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + p.Key(identity.ServiceAccountKey),
			"--service-account-signing-key-file=" + p.Key(identity.ServiceAccountKey),
			"--requestheader-client-ca-file=" + p.Cert(identity.FrontProxyCA),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + p.Cert(identity.FrontProxyCert),
			"--proxy-client-key-file=" + p.Key(identity.FrontProxyCert),
			// There is no kube-proxy in the machine's own namespace.
			"--enable-aggregator-routing",
		},
		Healthy: func(ctx context.Context) error { return get(ctx, admin, APIServerURL(own)+"/readyz") },
	}
}

// ControllerManager runs without leader election: there is one.
func ControllerManager(p layout.Paths, binary string, own netip.Addr, admin *http.Client) process.Component {
	return controller(p, identity.ManagerCert, binary, own, 10257, admin,
		"--use-service-account-credentials",
		"--root-ca-file="+p.Cert(identity.ClusterCA),
		"--service-account-private-key-file="+p.Key(identity.ServiceAccountKey),
		"--cluster-signing-cert-file="+p.Cert(identity.ClusterCA),
		"--cluster-signing-key-file="+p.Key(identity.ClusterCA),
	)
}

// Scheduler runs without leader election: there is one.
func Scheduler(p layout.Paths, binary string, own netip.Addr, admin *http.Client) process.Component {
	return controller(p, identity.SchedulerCert, binary, own, 10259, admin)
}

// controller is a part of the control plane that is a client of the API server. Its certificate has its name.
func controller(p layout.Paths, name, binary string, own netip.Addr, healthPort uint16, admin *http.Client, more ...string) process.Component {
	return process.Component{
		Name:   name,
		Inputs: []string{p.Config(name)},
		Argv: append([]string{
			binary,
			"--kubeconfig=" + p.Config(name),
			"--bind-address=" + own.String(),
			"--tls-cert-file=" + p.Cert(identity.ControlPlaneCert),
			"--tls-private-key-file=" + p.Key(identity.ControlPlaneCert),
			"--leader-elect=false",
			unlimited, unlimitedBurst,
		}, more...),
		Healthy: func(ctx context.Context) error {
			return get(ctx, admin, "https://"+netip.AddrPortFrom(own, healthPort).String()+"/healthz")
		},
	}
}
