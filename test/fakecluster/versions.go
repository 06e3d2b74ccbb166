// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// WithVersions makes client change an object's version at each write, and refuse a patch
// with an older version. The API server does both; the fake clientset does not.
func WithVersions(client *fake.Clientset) {
	var mu sync.Mutex
	version := 1000
	next := func(object runtime.Object) {
		if o, err := meta.Accessor(object); err == nil {
			version++
			o.SetResourceVersion(strconv.Itoa(version))
		}
	}
	tracker := client.Tracker()
	client.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		next(a.(clienttesting.CreateAction).GetObject())
		return false, nil, nil
	})
	client.PrependReactor("update", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		next(a.(clienttesting.UpdateAction).GetObject())
		return false, nil, nil
	})
	client.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		patch := a.(clienttesting.PatchActionImpl)
		stored, err := tracker.Get(a.GetResource(), a.GetNamespace(), patch.GetName())
		if err != nil {
			return true, nil, err
		}
		o, err := meta.Accessor(stored)
		if err != nil {
			return true, nil, err
		}
		var named struct{ Metadata metav1.ObjectMeta }
		if err := json.Unmarshal(patch.GetPatch(), &named); err != nil {
			return true, nil, err
		}
		if v := named.Metadata.ResourceVersion; v != "" && v != o.GetResourceVersion() {
			return true, nil, apierrors.NewConflict(a.GetResource().GroupResource(), patch.GetName(), errors.New("the object has been modified"))
		}
		// The new version travels with the patch itself.
		var content map[string]any
		if err := json.Unmarshal(patch.GetPatch(), &content); err != nil {
			return true, nil, err
		}
		metadata, _ := content["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
		}
		version++
		metadata["resourceVersion"], content["metadata"] = strconv.Itoa(version), metadata
		if patch.Patch, err = json.Marshal(content); err != nil {
			return true, nil, err
		}
		return clienttesting.ObjectReaction(tracker)(patch)
	})
}

// Patches returns the patches that client has sent, in order.
func Patches(client *fake.Clientset) []clienttesting.PatchAction {
	var found []clienttesting.PatchAction
	for _, a := range client.Actions() {
		if p, ok := a.(clienttesting.PatchAction); ok {
			found = append(found, p)
		}
	}
	return found
}

// Expire ends a watch so that the client lists again.
func Expire(w *watch.RaceFreeFakeWatcher) {
	w.Error(new(apierrors.NewResourceExpired("too old").Status()))
	w.Stop()
}
