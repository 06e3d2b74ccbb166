// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// defaultGrace is a Pod's termination grace period where none is given.
const defaultGrace = 30

// decode reads an object that came as JSON or as protobuf.
func (r *request) decode() (Object, error) {
	typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(r.body, nil, nil)
	if err != nil {
		return nil, err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{Object: fields}
	o.SetGroupVersionKind(r.kind.GroupVersionKind)
	return o, nil
}

func (s *Server) create(r *request) (Object, error) {
	o, err := r.decode()
	if err != nil {
		return nil, err
	}
	if r.kind.namespaced {
		o.SetNamespace(r.namespace)
	}
	if r.kind.forgotten {
		return o, nil
	}
	o, err = s.Create(r.kind.resource, o)
	if err == nil && r.kind.resource == nodes {
		s.config.Registered()
	}
	return o, err
}

func (s *Server) get(r *request) (Object, error) {
	if o := s.Get(r.kind.resource, r.key()); o != nil {
		return o, nil
	}
	return nil, r.notFound()
}

func (r *request) notFound() error { return apierrors.NewNotFound(r.kind.groupResource(), r.name) }

func (s *Server) update(r *request) (Object, error) {
	o, err := r.decode()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.objects[r.kind.resource][r.key()]
	if before == nil {
		return nil, r.notFound()
	}
	if v := o.GetResourceVersion(); v != "" && v != before.GetResourceVersion() {
		return nil, apierrors.NewConflict(r.kind.groupResource(), r.name, fmt.Errorf("it has changed"))
	}
	return s.put(r.kind.resource, before, o), nil
}

// patch applies a strategic merge patch. One of the status changes that and
// what the API server lets through beside it: labels and annotations.
func (s *Server) patch(r *request) (Object, error) {
	if r.kind.fields == nil || r.Header.Get("Content-Type") != string(types.StrategicMergePatchType) {
		return nil, apierrors.NewMethodNotSupported(r.kind.groupResource(), "patch")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.objects[r.kind.resource][r.key()]
	if before == nil {
		return nil, r.notFound()
	}
	patched, err := merge(before, r.body, r.kind.fields)
	if err != nil {
		return nil, err
	}
	if patched.GetUID() != before.GetUID() {
		return nil, apierrors.NewInvalid(r.kind.GroupKind(), r.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "uid"), patched.GetUID(), "field is immutable")})
	}
	if patched.GetResourceVersion() != before.GetResourceVersion() {
		return nil, apierrors.NewConflict(r.kind.groupResource(), r.name, fmt.Errorf("it has changed"))
	}
	after := patched
	if r.subresource == "status" {
		after = before.DeepCopy()
		after.SetLabels(patched.GetLabels())
		after.SetAnnotations(patched.GetAnnotations())
		after.Object["status"] = patched.Object["status"]
		if r.kind.resource == nodes {
			defer s.config.Registered()
		}
	}
	return s.put(r.kind.resource, before, after), nil
}

func merge(before Object, patch []byte, fields any) (Object, error) {
	raw, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	if raw, err = strategicpatch.StrategicMergePatch(raw, patch, fields); err != nil {
		return nil, err
	}
	patched := &unstructured.Unstructured{}
	return patched, patched.UnmarshalJSON(raw)
}

// deletePod marks a Pod for deletion; with a grace period of 0 it is gone.
func (s *Server) deletePod(r *request) (Object, error) {
	var options metav1.DeleteOptions
	if len(r.body) > 0 {
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(r.body, nil, &options); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.objects[Pods][r.key()]
	if before == nil {
		return nil, r.notFound()
	}
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != before.GetUID() {
		return nil, apierrors.NewConflict(r.kind.groupResource(), r.name, fmt.Errorf("the UID in the precondition is not that of the Pod"))
	}
	if g := options.GracePeriodSeconds; g != nil && *g == 0 {
		s.remove(Pods, before)
		return before, nil
	}
	after := before.DeepCopy()
	Terminate(after)
	return s.put(Pods, before, after), nil
}

// Terminate marks a Pod as a deletion with the default grace period does.
func Terminate(pod Object) {
	if pod.GetDeletionTimestamp() != nil {
		return
	}
	end, grace := metav1.NewTime(time.Now().Add(defaultGrace*time.Second)), int64(defaultGrace)
	pod.SetDeletionTimestamp(&end)
	pod.SetDeletionGracePeriodSeconds(&grace)
}
