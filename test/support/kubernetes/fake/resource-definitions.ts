import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import type { CrdSchema } from '../../../../crds/crd-schema.ts';
import { readCrdSchema } from '../../../../crds/read-crd-schema.ts';
import type { ApiObject } from './api-object.ts';
import { builtinSchema } from './builtin-schema.ts';
import { compileCustomValidation } from './custom-validation.ts';
import { objectAt, textAt } from './field-reading.ts';
import { completeEndpointSlice, validateEndpointSlice } from './kinds/endpoint-slice.ts';
import { validateEvent } from './kinds/event.ts';
import { validateLease } from './kinds/lease.ts';
import { completeNamespace } from './kinds/namespace.ts';
import { completePod, validatePod } from './kinds/pod.ts';
import { completeBinding, RBAC_GROUP, validateBinding, validateRole } from './kinds/rbac.ts';
import { completeSecret, dataKeyCauses, validateSecret } from './kinds/secret.ts';
import { completeService, validateService } from './kinds/service.ts';
import { OBJECT_META } from './object-meta.ts';
import type { ResourceDefinition } from './resource-definition.ts';

type Defined = Pick<ResourceDefinition, 'group' | 'plural' | 'kind'> & Partial<ResourceDefinition>;

/** Type of the client library that describes a kind, unless it is `V1` and the kind. */
const MODELS: Readonly<Record<string, string>> = { Event: 'CoreV1Event' };

function builtin(defined: Defined): ResourceDefinition {
  const { properties } = builtinSchema(MODELS[defined.kind] ?? `V1${defined.kind}`);
  return {
    version: 'v1',
    namespaced: true,
    custom: false,
    schema: { type: 'object', properties: { ...properties, metadata: OBJECT_META } },
    hasStatus: false,
    hasGeneration: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    name: 'subdomain',
    selectableFields: {},
    complete: (object) => object,
    validate: () => [],
    ...defined,
  };
}

function custom(defined: Defined, schema: CrdSchema): ResourceDefinition {
  return {
    ...builtin({ ...defined, kind: 'Namespace' }),
    version: 'v1alpha1',
    custom: true,
    schema: { ...schema, properties: { ...schema.properties, metadata: OBJECT_META } },
    hasStatus: true,
    hasGeneration: true,
    unconditionalUpdate: false,
    validate: compileCustomValidation(schema),
    ...defined,
  };
}

const RBAC = {
  group: RBAC_GROUP,
  createOnUpdate: true,
  name: 'path segment',
} as const satisfies Partial<ResourceDefinition>;

export const NAMESPACES = builtin({
  group: '',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  hasStatus: true,
  name: 'label',
  complete: completeNamespace,
});
export const SERVICE_ACCOUNTS = builtin({
  group: '',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
});
export const PODS = builtin({
  group: '',
  plural: 'pods',
  kind: 'Pod',
  hasStatus: true,
  complete: completePod,
  validate: validatePod,
});
export const ROLES = builtin({ ...RBAC, plural: 'roles', kind: 'Role', validate: validateRole });
export const CLUSTER_ROLES = builtin({
  ...RBAC,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
  validate: validateRole,
});
export const ROLE_BINDINGS = builtin({
  ...RBAC,
  plural: 'rolebindings',
  kind: 'RoleBinding',
  complete: completeBinding,
  validate: validateBinding,
});
export const CLUSTER_ROLE_BINDINGS = builtin({
  ...RBAC,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  complete: completeBinding,
  validate: validateBinding,
});

const REFERENCE_GRANTS = custom(
  {
    group: 'gateway.networking.k8s.io',
    version: 'v1beta1',
    plural: 'referencegrants',
    kind: 'ReferenceGrant',
    hasStatus: false,
  },
  referenceGrantSchema(),
);

const DEFINITIONS: readonly ResourceDefinition[] = [
  NAMESPACES,
  SERVICE_ACCOUNTS,
  PODS,
  ROLES,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  CLUSTER_ROLE_BINDINGS,
  builtin({
    group: '',
    plural: 'secrets',
    kind: 'Secret',
    selectableFields: { type: (object) => textAt(object, 'type') },
    complete: completeSecret,
    validate: validateSecret,
  }),
  builtin({ group: '', plural: 'configmaps', kind: 'ConfigMap', validate: dataKeyCauses }),
  builtin({
    group: '',
    plural: 'services',
    kind: 'Service',
    hasStatus: true,
    createOnUpdate: true,
    name: 'service',
    complete: completeService,
    validate: validateService,
  }),
  builtin({
    group: '',
    plural: 'events',
    kind: 'Event',
    createOnUpdate: true,
    selectableFields: involvedObjectFields(),
    validate: validateEvent,
  }),
  builtin({
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    hasGeneration: true,
    complete: completeEndpointSlice,
    validate: validateEndpointSlice,
  }),
  builtin({
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    unconditionalUpdate: false,
    createOnUpdate: true,
    validate: validateLease,
  }),
  custom(
    {
      group: 'gatehouse.dev',
      plural: 'routes',
      kind: 'Route',
      selectableFields: {
        'spec.gatewayClassName': (object) => textAt(objectAt(object, 'spec'), 'gatewayClassName'),
      },
    },
    readCrdSchema('Route'),
  ),
  custom(
    { group: 'gatehouse.dev', plural: 'gatewaysettings', kind: 'GatewaySettings' },
    readCrdSchema('GatewaySettings'),
  ),
];

/** Every resource that is stored; `withReferenceGrants` adds the Gateway API's ReferenceGrant. */
export function resourceDefinitions(withReferenceGrants: boolean): readonly ResourceDefinition[] {
  return withReferenceGrants ? [...DEFINITIONS, REFERENCE_GRANTS] : DEFINITIONS;
}

function referenceGrantSchema(): CrdSchema {
  const file = new URL('../definitions/referencegrants.yaml', import.meta.url);
  // A definition that real API servers accept.
  const definition = parse(readFileSync(file, 'utf8')) as {
    readonly spec: {
      readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: CrdSchema } }];
    };
  };
  return definition.spec.versions[0].schema.openAPIV3Schema;
}

function involvedObjectFields(): ResourceDefinition['selectableFields'] {
  const fields = ['kind', 'name', 'namespace', 'uid'].map((name) => [
    `involvedObject.${name}`,
    (object: ApiObject) => textAt(objectAt(object, 'involvedObject'), name),
  ]);
  return {
    // Pairs of a path and its reader.
    ...(Object.fromEntries(fields) as ResourceDefinition['selectableFields']),
    reason: (object) => textAt(object, 'reason'),
    type: (object) => textAt(object, 'type'),
  };
}
