import { API_VERSION, type ResourceKind } from '../../crds/crd-schema.ts';
import type { GatewaySettings, Route } from '../../crds/types.ts';
import { validateResource } from '../validate/validate-resource.ts';
import { made, type CompileResult } from './compile-result.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** A spec as an API server stored it. */
export interface StoredSpec {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly spec: unknown;
}

/**
 * Validates a stored spec by our schema, since the definition in the cluster may have a different
 * version.
 */
export function readStored(
  kind: 'GatewaySettings',
  stored: StoredSpec,
): CompileResult<GatewaySettings>;
/** Validates a stored spec of a Route in the same way. */
export function readStored(kind: 'Route', stored: StoredSpec): CompileResult<Route>;
export function readStored(
  kind: ResourceKind,
  { spec, ...metadata }: StoredSpec,
): CompileResult<Route | GatewaySettings> {
  const manifest = { apiVersion: API_VERSION, kind, metadata, spec };
  const validation = validateResource(manifest, kind);
  if (validation.kind === 'valid') {
    // The overloads pair the kind with its type.
    return made(validation.resource as Route | GatewaySettings);
  }
  return {
    kind: 'invalid',
    problems: validation.problems.map(({ path, reason, message }) => ({ path, reason, message })),
  };
}

/** A generation that served, as a status records it. */
export interface RecordedGeneration {
  readonly number: number;
  readonly spec: unknown;
}

/**
 * Reads a generation before `newest` from `status.served`; undefined if it has none. Accepts any stored
 * value.
 */
export function readServed(status: unknown, newest = 0): RecordedGeneration | undefined {
  const served = isRecord(status) ? status['served'] : undefined;
  if (!isRecord(served) || !('spec' in served)) return undefined;
  const { generation, spec } = served;
  if (typeof generation !== 'number' || generation >= newest) return undefined;
  return { number: generation, spec };
}
