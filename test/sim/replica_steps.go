// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
	"github.com/cocoonstack/vk-sandbox/test/sim/model"
)

const statefulSet = "team-red/db"

// replicaSet returns the name of a ReplicaSet.
func replicaSet(n uint32) string { return fmt.Sprintf("team-red/web-%d", n%2) }

// ordinal returns the name of a StatefulSet's Pod. One of them looks random.
func ordinal(n uint32) string { return statefulSet + pick(n, "-0", "-1", "-24567") }

// odd returns the name of a Sandbox's Pod that looks random.
func odd(n uint32) string { return name(n) + "-x2b4k" }

// generated gives a Pod the prefix that its name would have been made from.
func generated(prefix string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.GenerateName = prefix }
}

// replicaActions change Pods with random names, and Pods whose names only look random.
func replicaActions() []action {
	replica := func(w *World, a, b uint32, do func(key string)) {
		if keys := w.API.Replicas(replicaSet(a)); len(keys) > 0 {
			do(pick(b, keys...))
		}
	}
	return []action{
		{"a replica set makes a pod", 24, func(w *World, a, b uint32) {
			w.API.CreateOwnerOf(apiserver.ReplicaSet, replicaSet(a))
			if len(w.API.Replicas(replicaSet(a))) < 3 {
				w.API.CreateReplica(replicaSet(a), lease(b))
			}
		}},
		{"a replica is deleted", 14, func(w *World, a, b uint32) { replica(w, a, b, w.API.DeletePod) }},
		{"a replica is removed at once", 5, func(w *World, a, b uint32) {
			replica(w, a, b, func(key string) { w.API.RemovePod(key, "") })
		}},
		{"a replica set is scaled to zero", 5, func(w *World, a, _ uint32) {
			for _, key := range w.API.Replicas(replicaSet(a)) {
				w.API.DeletePod(key)
			}
		}},
		{"a replica set is deleted", 2, func(w *World, a, b uint32) { w.API.DeleteOwner(replicaSet(a), b%3 == 0) }},
		{"a replica gets another controller", 4, func(w *World, a, b uint32) {
			w.API.CreateOwner(name(b))
			replica(w, a, b>>4, func(key string) { w.API.Transfer(key, pick(b, "", name(b), replicaSet(a+1)), b%2 == 0) })
		}},
		{"a pod takes a replica's name", 6, func(w *World, a, b uint32) {
			keys := w.API.MadeReplicas(replicaSet(a))
			if len(keys) == 0 {
				return
			}
			p := apiserver.NewPod(pick(b>>4, keys...), lease(b))
			generated(replicaSet(a)[len("team-red/"):] + "-")(p)
			if b%4 == 0 {
				w.API.AddPod(p)
			} else {
				w.API.CreatePodOf(replicaSet(a), p)
			}
		}},
		{"a stateful set makes a pod", 6, func(w *World, a, b uint32) {
			w.API.CreateOwnerOf(apiserver.StatefulSet, statefulSet)
			p := apiserver.NewPod(ordinal(a), lease(b))
			generated("db-")(p)
			w.API.CreatePodOf(statefulSet, p)
		}},
		{"a stateful set's pod is deleted", 5, func(w *World, a, _ uint32) { w.API.DeletePod(ordinal(a)) }},
		{"a sandbox's pod has a name that looks random", 5, func(w *World, a, b uint32) {
			w.API.CreateOwner(name(a))
			p := apiserver.NewPod(odd(a), lease(b))
			generated(name(a)[len("team-red/"):] + "-")(p)
			w.API.CreatePodOf(name(a), p)
		}},
		{"a pod whose name looks random is deleted", 4, func(w *World, a, _ uint32) { w.API.DeletePod(odd(a)) }},
		{"a grace passes", 8, func(w *World, a, _ uint32) {
			w.Wait(model.UnadoptableGrace + time.Duration(a%60)*time.Second)
		}},
	}
}
