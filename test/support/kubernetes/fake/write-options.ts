import type { IncomingMessage } from 'node:http';

import { requiredValue } from './cause.ts';
import type { Target } from './read-object.ts';
import type { RequestInfo } from './request-info.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { invalid } from './status-error.ts';

/** Options of a write, from the query of a request. */
export interface WriteOptions extends Target {
  readonly subresource: string;
  readonly manager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
}

/** Handling of unknown fields. Without `Strict`, they are dropped. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** Reads the options of a write. */
export function writeOptionsOf(
  request: IncomingMessage,
  definition: ResourceDefinition,
  info: RequestInfo,
): WriteOptions {
  const [agent = ''] = (request.headers['user-agent'] ?? 'unknown').split('/');
  return {
    ...placeOf(definition, info),
    subresource: info.subresource,
    manager: info.query.get('fieldManager') ?? agent,
    dryRun: isDryRun(info),
    fieldValidation: fieldValidationOf(info),
  };
}

/** Objects without a namespace are stored under the empty one. */
export function placeOf(
  { namespaced }: ResourceDefinition,
  { namespace, name }: RequestInfo,
): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaced ? namespace : '', name };
}

/** Whether to return the result without storing it. */
export function isDryRun({ query }: RequestInfo): boolean {
  return query.getAll('dryRun').includes('All');
}

function fieldValidationOf({ query }: RequestInfo): FieldValidation {
  const asked = query.get('fieldValidation') ?? '';
  switch (asked) {
    case '':
      return 'Warn';
    case 'Strict':
    case 'Warn':
    case 'Ignore':
      return asked;
    default: {
      const cause = {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(asked)}: supported values: "", "Ignore", "Strict", "Warn"`,
        field: 'fieldValidation',
      };
      throw invalid({ group: 'meta.k8s.io', kind: 'CreateOptions' }, '', [cause]);
    }
  }
}

/** Throws if an apply does not name its field manager. */
export function assertFieldManager({ query }: RequestInfo): void {
  if (query.has('fieldManager')) return;
  const cause = requiredValue('fieldManager', 'is required for apply patch');
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [cause]);
}
